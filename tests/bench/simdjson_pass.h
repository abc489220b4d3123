// simdjson's own on-demand pass over a trace: what our reader is held against.
#ifndef STEPCAST_TESTS_BENCH_SIMDJSON_PASS_H_
#define STEPCAST_TESTS_BENCH_SIMDJSON_PASS_H_

#include <cstdint>
#include <string>

namespace stepcast::bench {

/// A text with the room after it that simdjson wants.
class PaddedText {
 public:
  explicit PaddedText(std::string text);
  const char* data() const { return text_.data(); }
  size_t size() const { return size_; }
  size_t capacity() const { return text_.size(); }

 private:
  std::string text_;
  size_t size_;
};

/// Visits every member of every event without looking at values; returns how
/// many there were.
int64_t VisitMembers(const PaddedText& text);

/// Visits every member of every event and of its args, and reads the values
/// that our reader reads: strings, whole numbers and times. Stores nothing.
int64_t ReadFields(const PaddedText& text);

}  // namespace stepcast::bench

#endif  // STEPCAST_TESTS_BENCH_SIMDJSON_PASS_H_
