#include "ir/outline.h"

#include <gtest/gtest.h>

#include "ir/graph_builder.h"

namespace stepcast::ir {
namespace {

// Builds one thread and shows its outline, an item a line: its name indented by
// its depth, a '!' after what is misplaced.
class OutlineTest : public ::testing::Test {
 protected:
  OpId AddOp(std::string_view name, OpId parent = {}, int64_t start_us = -1) {
    return builder_.AddOp({.name = builder_.Intern(name),
                           .thread = thread_,
                           .parent = parent,
                           .measured = At(start_us)});
  }
  void AddCall(std::string_view name, OpId op, int64_t start_us = -1) {
    builder_.AddCall({.name = builder_.Intern(name),
                      .thread = thread_,
                      .op = op,
                      .measured = At(start_us)});
  }
  std::string Shown() {
    const auto graph = std::move(builder_).Build();
    CHECK(graph.has_value()) << graph.error().message;
    const GraphData& data = graph->data();
    std::string text;
    for (const OutlineItem& item :
         Outline(data, data.ops.ids(), data.calls.ids())) {
      text.append(item.depth, ' ');
      text += graph->text(item.op.valid() ? data.ops[item.op].name
                                          : data.calls[item.call].name);
      text += item.misplaced ? "!\n" : "\n";
    }
    return text;
  }

 private:
  static std::optional<Measured> At(int64_t start_us) {
    if (start_us < 0) {
      return std::nullopt;
    }
    return Measured{.start = Duration{start_us * 1000}};
  }

  GraphBuilder builder_;
  ThreadId thread_ =
      builder_.AddThread({.rank = builder_.AddRank({.number = 0})});
};

TEST_F(OutlineTest, CallsAreBetweenTheOpsAroundThem) {
  const OpId a = AddOp("a", {}, 0);
  const OpId b = AddOp("b", a, 10);
  AddOp("c", a, 20);
  AddOp("d", {}, 40);
  AddCall("in a, first", a, 5);
  AddCall("in b", b, 11);
  AddCall("in a, between", a, 15);
  AddCall("in a, last", a, 25);
  AddCall("outside", {}, 35);
  EXPECT_EQ(Shown(),
            "a\n"
            " in a, first\n"
            " b\n"
            "  in b\n"
            " in a, between\n"
            " c\n"
            " in a, last\n"
            "outside\n"
            "d\n");
}

TEST_F(OutlineTest, WithoutTimesTheOrderOfTheCallsShowsWhereOpsBelong) {
  const OpId a = AddOp("a");
  const OpId b = AddOp("b", a);
  AddOp("c");
  AddCall("1", a);
  AddCall("2", b);
  AddCall("3", a);
  EXPECT_EQ(Shown(), "a\n 1\n b\n  2\n 3\nc\n");
}

TEST_F(OutlineTest, ACallOfAnOpThatIsClosedIsMisplaced) {
  const OpId a = AddOp("a");
  const OpId b = AddOp("b");
  AddCall("1", b);
  AddCall("2", a);
  AddCall("3", b);
  EXPECT_EQ(Shown(), "a\nb\n 1\n 2!\n 3\n");
}

// b is open when the call of a comes, and must stay open for c.
TEST_F(OutlineTest, ACallThatWouldCloseAnOpTooEarlyIsMisplaced) {
  const OpId a = AddOp("a", {}, 0);
  const OpId b = AddOp("b", a, 1);
  AddOp("c", b, 9);
  AddCall("of a", a, 5);
  AddCall("of none", {}, 6);
  EXPECT_EQ(Shown(), "a\n b\n  of a!\n  of none!\n  c\n");
}

}  // namespace
}  // namespace stepcast::ir
