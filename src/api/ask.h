// One function after every door: a question in, a document out.
#ifndef STEPCAST_API_ASK_H_
#define STEPCAST_API_ASK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "explore/run_study.h"
#include "scenario/scenario.h"
#include "scenario/settings.h"
#include "view/doc.h"

namespace stepcast::api {

// Questions that files hold: reports, and scenarios of their own.

/// Whether a file is a report that `--json` wrote.
bool IsReport(const std::string& path);

/// If the question is of one file that holds a question: that one, with what is
/// set in this one on top. Of another verb only the scenario is taken.
Status Rerun(scenario::Question& question);

/// "0.1.0"
std::string_view Version();

/// How to work; the answer does not depend on it.
struct Options {
  size_t threads = 0;  // 0: one per core.
  /// Gets what is being done from now on: "reading traces".
  std::function<void(std::string_view)> on_progress{};
  /// Is asked occasionally, from any thread; true: stop. A search answers with
  /// the best so far, anything else fails.
  std::function<bool()> cancelled{};
  bool page = false;     // With what only pages show and takes time to make.
  bool details = false;  // With what only JSON has, likewise.
  /// Of a study: where finished rows are kept, so that one that was stopped
  /// goes on; empty: nowhere. Several processes share one.
  std::filesystem::path directory{};
  explore::Process process{};
  std::chrono::milliseconds patience = std::chrono::minutes(1);

  void ReportProgress(std::string_view what) const {
    if (on_progress) {
      on_progress(what);
    }
  }
  bool IsCancelled() const { return cancelled && cancelled(); }
  /// Fails if it is.
  Status Check() const;
};

struct Answer {
  view::Doc doc{};
  std::vector<double> values{};  // Of the verb's quantities, in their order.
  bool fits = true;  // In memory, as far as that is known: it would run.
  /// What can be saved along with the report, by the verb's file names.
  std::map<std::string, std::function<std::string()>, std::less<>> files{};
  std::optional<view::Doc> whole{};     // Of a study: all rows.
  std::shared_ptr<const void> owner{};  // Of what the others point to.
};

/// Something that checks can be about.
struct Quantity {
  std::string_view name;  // "error"
  std::string_view unit;  // "%", "us" or "": of a limit without one.
  std::string_view help;  // One line.
};

/// An argument, other than a setting, that only one verb takes.
struct Argument {
  enum class Kind : uint8_t {
    kWord,
    kWords,     // All that follow.
    kRepeated,  // One each time.
    kFlag,
  };
  std::string_view name;   // "change": --change
  std::string_view value;  // "NAME=VALUE"; empty for flags.
  std::string_view help;
  Kind kind = Kind::kWord;
};

/// A file that can be saved along with the report.
struct File {
  std::string_view name;  // "perfetto": --perfetto FILE
  std::string_view help;
  /// Why an answer may be without it.
  std::string_view absent =
      "there is no single step to write there, as of a fleet or of suggestions";
};

/// One kind of question.
struct Verb {
  std::string_view name;      // "predict", "eval steps"
  std::string_view about;     // Some sentences.
  std::string_view examples;  // Lines of a shell.
  /// The words without an option, and what they are; empty: those of settings.
  std::string_view words{};
  std::string_view words_help{};
  std::string_view page;  // What an HTML page shows.
  std::string_view rows;  // What CSV has a row for; empty: no CSV.
  bool (*takes)(const scenario::Setting& setting) = nullptr;
  std::vector<Argument> arguments{};
  std::vector<Quantity> quantities{};
  std::vector<File> files{};
  bool is_search = false;  // Answers with the best so far if it is stopped.
  bool is_study = false;   // Keeps rows, and shares them between processes.
  Result<Answer> (*ask)(const scenario::Question& question,
                        const Options& options) = nullptr;
};

/// In the order of the program's help.
std::span<const Verb> Verbs();
/// Null if there is none of that name.
const Verb* FindVerb(std::string_view name);

/// The answer with its question in it. Keeps nothing between two calls; several
/// threads may ask at once. Fails for verbs, arguments and settings that there
/// are not.
Result<Answer> Ask(const scenario::Question& question,
                   const Options& options = {});

Verb PredictVerb();
Verb WhatifVerb();
Verb CompareVerb();
Verb ReplayVerb();
Verb PlanVerb();
Verb ExploreVerb();
Verb DoctorVerb();
Verb EvalKernelsVerb();
Verb EvalOverheadsVerb();
Verb EvalStepsVerb();

}  // namespace stepcast::api

#endif  // STEPCAST_API_ASK_H_
