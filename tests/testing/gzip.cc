#include "tests/testing/gzip.h"

#include <utility>
#include <vector>

#include <zlib.h>

#include "base/check.h"

namespace stepcast::testing {

struct GzipStream::State {
  z_stream stream{};
  std::vector<char> output = std::vector<char>(1 << 16);
};

GzipStream::GzipStream(std::function<void(std::string_view)> sink)
    : sink_(std::move(sink)), state_(std::make_unique<State>()) {
  // 16 + 15: a gzip wrapper with the largest window; 8: zlib's default memory.
  const int code = deflateInit2(&state_->stream, Z_BEST_SPEED, Z_DEFLATED,
                                16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  CHECK(code == Z_OK) << code;
}

GzipStream::~GzipStream() {
  deflateEnd(&state_->stream);
}

void GzipStream::Write(std::string_view text) {
  Deflate(text, Z_NO_FLUSH);
}

void GzipStream::Finish() {
  Deflate({}, Z_FINISH);
}

void GzipStream::Deflate(std::string_view text, int flush) {
  z_stream& stream = state_->stream;
  std::string input(text);  // zlib wants to be able to write to it.
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  do {
    std::vector<char>& output = state_->output;
    stream.next_out = reinterpret_cast<Bytef*>(output.data());
    stream.avail_out = static_cast<uInt>(output.size());
    const int code = deflate(&stream, flush);
    CHECK(code != Z_STREAM_ERROR) << code;
    sink_(std::string_view(output.data(), output.size() - stream.avail_out));
  } while (stream.avail_out == 0);
}

std::string Gzip(std::string_view text) {
  std::string compressed;
  GzipStream stream([&](std::string_view bytes) { compressed += bytes; });
  stream.Write(text);
  stream.Finish();
  return compressed;
}

}  // namespace stepcast::testing
