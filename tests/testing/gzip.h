// Compressing to gzip, for tests that read it.
#ifndef STEPCAST_TESTS_TESTING_GZIP_H_
#define STEPCAST_TESTS_TESTING_GZIP_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace stepcast::testing {

/// Compresses a stream of text; the last bytes come with Finish.
class GzipStream {
 public:
  explicit GzipStream(std::function<void(std::string_view)> sink);
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream();

  void Write(std::string_view text);
  void Finish();

 private:
  struct State;

  void Deflate(std::string_view text, int flush);

  std::function<void(std::string_view)> sink_;
  std::unique_ptr<State> state_;
};

std::string Gzip(std::string_view text);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_GZIP_H_
