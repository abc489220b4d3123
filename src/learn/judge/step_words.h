// What the words of published step times mean: which model, implementation and
// GPU a row is about, by the rules of data/published/words.toml.
#ifndef STEPCAST_LEARN_JUDGE_STEP_WORDS_H_
#define STEPCAST_LEARN_JUDGE_STEP_WORDS_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text/glob.h"
#include "learn/measured/step_rows.h"
#include "scenario/resolve.h"

namespace stepcast::learn {

/// What a row asks of us, or why it cannot be answered.
struct StepMeaning {
  scenario::Job job;
  std::string why_not;  // Empty: the job is complete.
};

/// Rules, column by column. Of a column's rules the first that fits a row's
/// word counts; a row that a column has no rule for cannot be predicted.
class StepWords {
 public:
  /// What is built in.
  static Result<StepWords> Load();
  static Result<StepWords> Parse(std::string_view text,
                                 std::string_view source);

  /// The job's machine is loaded, by the resolver.
  StepMeaning MeaningOf(const StepRow& row, scenario::Resolver& resolver) const;

  using Values = std::map<std::string, std::string, std::less<>>;
  struct Rule {
    std::vector<Glob> words;
    /// Other columns that must fit, too.
    std::vector<std::pair<std::string, Glob>> when;
    Values values;  // "impl", "gpu", ..., or "skip" with the reason.
  };
  struct Column {
    std::string name;
    std::vector<Rule> rules;
  };
  const std::vector<Column>& columns() const { return columns_; }

 private:
  std::vector<Column> columns_;
};

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_JUDGE_STEP_WORDS_H_
