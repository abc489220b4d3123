// A sign of life on standard error while something takes long.
#ifndef STEPCAST_CLI_PROGRESS_H_
#define STEPCAST_CLI_PROGRESS_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace stepcast::cli {

/// While it lives, and from its second second on, shows what is being done and
/// for how long, then takes the line away. Silent unless standard error is a
/// terminal.
class Progress {
 public:
  explicit Progress(std::string_view what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Something else is being done from now on.
  void Set(std::string_view what);

 private:
  void Show();

  std::string what_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_PROGRESS_H_
