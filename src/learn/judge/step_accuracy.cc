#include "learn/judge/step_accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>
#include <utility>

#include "base/parallel.h"
#include "base/units.h"
#include "engine/run/predict_model.h"
#include "model/frameworks/implementations.h"

namespace stepcast::learn {
namespace {

constexpr double kMicroseconds = 1e3;  // In a millisecond.

// One row's answer: the prediction, or why there is none.
struct Answer {
  PredictedStep step;
  std::string why_not;
};

double Milliseconds(Duration duration) {
  return ToMicroseconds(duration) / kMicroseconds;
}

Answer Ask(const StepRow& row, const StepWords& words,
           const StepAccuracyOptions& options, scenario::Resolver& resolver) {
  Answer answer;
  StepMeaning meaning = words.MeaningOf(row, resolver);
  if (!meaning.why_not.empty()) {
    answer.why_not = std::move(meaning.why_not);
    return answer;
  }
  engine::PredictOptions how;
  how.samples = options.samples;
  how.seed = options.seed;
  const auto predicted = engine::PredictModel(meaning.job.request, how);
  if (!predicted) {
    answer.why_not = predicted.error().message;
    return answer;
  }
  const engine::StepResult& prediction = predicted->result;
  answer.step = {.row = &row,
                 .workload = meaning.job.request.model.name,
                 .impl = std::string(meaning.job.request.settings.impl->name),
                 .gpu = meaning.job.request.machine.gpu,
                 .predicted_ms = Milliseconds(prediction.step),
                 .gpu_active_ms = Milliseconds(
                     prediction.accounts[prediction.slowest()].gpu_active),
                 .p10_ms = Milliseconds(prediction.interval.p10),
                 .p90_ms = Milliseconds(prediction.interval.p90)};
  return answer;
}

// Resolvers load what they need once, so each thread keeps its own and takes
// every n-th row.
std::vector<Answer> AskAll(const std::vector<StepRow>& rows,
                           const StepWords& words,
                           const StepAccuracyOptions& options) {
  std::vector<Answer> answers(rows.size());
  const size_t threads =
      options.threads > 0
          ? options.threads
          : std::max<size_t>(1, std::thread::hardware_concurrency());
  ParallelFor(threads, threads, [&](size_t thread) {
    scenario::Resolver resolver(options.profiles);
    for (size_t i = thread; i < rows.size(); i += threads) {
      answers[i] = Ask(rows[i], words, options, resolver);
    }
  });
  return answers;
}

StepGroup Summarize(std::vector<std::string> words,
                    const std::vector<const PredictedStep*>& steps) {
  StepGroup group;
  group.words = std::move(words);
  Errors errors;
  size_t inside = 0;
  for (const PredictedStep* step : steps) {
    errors.Add(step->predicted_ms, step->row->step_time_ms);
    group.worst_pct = std::max(group.worst_pct, std::abs(step->error_pct()));
    inside += step->in_interval() ? 1 : 0;
  }
  group.errors = errors.Summary();
  group.in_interval = steps.empty() ? 0
                                    : static_cast<double>(inside) /
                                          static_cast<double>(steps.size());
  return group;
}

}  // namespace

double PredictedStep::error_pct() const {
  return kPercent * (predicted_ms / row->step_time_ms - 1);
}

bool PredictedStep::in_interval() const {
  return p10_ms <= row->step_time_ms && row->step_time_ms <= p90_ms;
}

StepAccuracy EvaluateSteps(const std::vector<StepRow>& rows,
                           const StepWords& words,
                           const StepAccuracyOptions& options) {
  StepAccuracy accuracy;
  accuracy.columns = options.columns;
  std::vector<Answer> answers = AskAll(rows, words, options);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (answers[i].why_not.empty()) {
      accuracy.rows.push_back(std::move(answers[i].step));
    } else {
      accuracy.skipped.push_back(
          {.row = &rows[i], .why = std::move(answers[i].why_not)});
    }
  }
  std::map<std::vector<std::string>, std::vector<const PredictedStep*>> groups;
  std::vector<const PredictedStep*> all;
  for (const PredictedStep& step : accuracy.rows) {
    std::vector<std::string> key;
    for (const std::string& column : options.columns) {
      key.emplace_back(step.row->Word(column));
    }
    groups[key].push_back(&step);
    all.push_back(&step);
  }
  for (const auto& [key, steps] : groups) {
    accuracy.groups.push_back(Summarize(key, steps));
  }
  accuracy.all = Summarize({}, all);
  return accuracy;
}

}  // namespace stepcast::learn
