// How much time is left, and what to tell the user meanwhile.
#ifndef STEPCAST_COLLECT_CUDA_BUDGET_H_
#define STEPCAST_COLLECT_CUDA_BUDGET_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

namespace stepcast::collect {

/// Seconds since any fixed moment.
using Clock = std::function<double()>;
Clock SteadyClock();

/// A time budget that earlier, killed runs have already eaten from.
class Budget {
 public:
  Budget(double seconds, double spent_before, Clock clock);

  double ThisRun() const { return clock_() - start_; }
  double Spent() const { return spent_before_ + ThisRun(); }
  double Left() const;
  bool IsOver() const { return Spent() >= seconds_; }
  double seconds() const { return seconds_; }

 private:
  double seconds_;
  double spent_before_;
  Clock clock_;
  double start_;
};

/// Seconds until all points are measured or the budget is over, whichever is
/// first.
double EtaSeconds(int64_t done, int64_t total, double spent, double left);

/// 65.2 -> "1:05".
std::string ClockText(double seconds);

/// One line on a stream: rewritten on a terminal, added occasionally to a file.
class Progress {
 public:
  Progress(int64_t total, std::ostream& stream, bool is_terminal);

  /// Says nothing if it has just spoken.
  void Show(int64_t done, const Budget& budget, const std::string& note);
  void End();

 private:
  int64_t total_;
  std::ostream& stream_;
  bool is_terminal_;
  double next_ = 0;  // Seconds into the run.
};

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_BUDGET_H_
