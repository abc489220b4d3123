#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/build/profiler_graph.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;

struct Made {
  ProfilerTrace trace{};

  Made() {
    trace.threads = {{.process = "1", .thread = "7", .name = {}},
                     {.process = "1", .thread = "8", .name = {}}};
    trace.python_threads = {{.process = "1", .thread = "9", .name = {}},
                            {.process = "1", .thread = "7", .name = {}}};
  }

  void AddFrame(std::string_view name, bool is_module, int start, int end,
                uint32_t thread = 1) {
    trace.python_frames.push_back({.name = trace.strings.Intern(name),
                                   .thread = thread,
                                   .is_module = is_module,
                                   .start = microseconds(start),
                                   .duration = microseconds(end - start)});
  }
  void AddOp(int start, int end, uint32_t thread = 0) {
    trace.host_events.push_back({.name = trace.strings.Intern("op"),
                                 .thread = thread,
                                 .start = microseconds(start),
                                 .duration = microseconds(end - start)});
  }
  // "modules | site" of each op.
  std::vector<std::string> Places() const {
    const PythonPlaces places = FindPythonPlaces({.trace = trace});
    std::vector<std::string> texts;
    for (const PythonPlace& place : places.of_events) {
      texts.push_back(places.texts[place.modules] + " | " +
                      places.texts[place.site]);
    }
    return texts;
  }
};

TEST(PythonPlacesTest, AnOpIsInTheFunctionsThatAreOpenWhenItStarts) {
  Made made;
  // In no order, as profilers write them.
  made.AddFrame("Linear_1", true, 30, 40);
  made.AddFrame("train.py(1): step", false, 0, 100);
  made.AddFrame("DLRM_0", true, 10, 50);
  made.AddFrame("dlrm.py(7): forward", false, 20, 50);
  made.AddOp(5, 9);
  made.AddOp(32, 39);
  made.AddOp(40, 45);    // Linear_1 is over.
  made.AddOp(50, 60);    // So is the module.
  made.AddOp(100, 110);  // And all.
  EXPECT_THAT(made.Places(),
              ElementsAre(" | train.py(1): step",
                          "DLRM_0/Linear_1 | dlrm.py(7): forward",
                          "DLRM_0 | dlrm.py(7): forward",
                          " | train.py(1): step", " | "));
}

TEST(PythonPlacesTest, FunctionsOfOtherThreadsDoNotCount) {
  Made made;
  made.AddFrame("monitor.py(1): run", false, 0, 100, 0);
  made.AddFrame("train.py(1): step", false, 0, 100);
  made.AddOp(5, 9);
  made.AddOp(5, 9, 1);
  EXPECT_THAT(made.Places(), ElementsAre(" | train.py(1): step", " | "));
}

TEST(PythonPlacesTest, WithoutStacksThereIsNothing) {
  Made made;
  made.AddOp(5, 9);
  EXPECT_THAT(made.Places(), ElementsAre());
}

// A recording may nest modules as deep as it likes.
TEST(PythonPlacesTest, TheTextOfADeepNestIsShort) {
  constexpr int kDepth = 1000;
  Made made;
  for (int i = 0; i < kDepth; ++i) {
    made.AddFrame("M", true, i, 3 * kDepth - i);
  }
  made.AddOp(kDepth, kDepth + 1);
  EXPECT_LT(made.Places().at(0).size(), 100U);
}

}  // namespace
}  // namespace stepcast::trace
