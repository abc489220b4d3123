// Loading the recorded traces that lie outside the repository.
#ifndef STEPCAST_TESTS_SHARED_SHARED_TRACES_H_
#define STEPCAST_TESTS_SHARED_SHARED_TRACES_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trace/classify/rules.h"
#include "trace/read/load.h"
#include "view/reports/doctor.h"

namespace stepcast::view {

inline std::filesystem::path TraceFolder() {
  return std::filesystem::path(STEPCAST_SHARED_DATA) / "traces";
}

inline const trace::Rules& BuiltInRules() {
  static const auto* const kRules = new trace::Rules(*trace::Rules::Load());
  return *kRules;
}

/// The traces under these names in the folder, as one input.
inline trace::Loaded LoadTraces(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& name : names) {
    paths.push_back(TraceFolder() / name);
  }
  auto loaded = trace::Load(paths, BuiltInRules());
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? *std::move(loaded) : trace::Loaded{};
}

inline DoctorReport Examine(const std::vector<std::string>& names) {
  return Diagnose(LoadTraces(names), BuiltInRules());
}

/// Skips the test where the folder is absent.
inline void SkipWithoutTraces() {
  if (!std::filesystem::exists(TraceFolder())) {
    GTEST_SKIP() << "no traces in " << TraceFolder();
  }
}

}  // namespace stepcast::view

#endif  // STEPCAST_TESTS_SHARED_SHARED_TRACES_H_
