// Reads one Chakra message after the other into the terms of a trace.
#ifndef STEPCAST_INGEST_CHAKRA_MESSAGE_READER_H_
#define STEPCAST_INGEST_CHAKRA_MESSAGE_READER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/string_pool.h"
#include "ingest/chakra/chakra.pb.h"
#include "ingest/chakra/chakra_nodes.h"
#include "ingest/trace_info.h"

namespace stepcast::ingest {

class MessageReader {
 public:
  MessageReader(StringPool& strings, Diagnostics& diagnostics)
      : strings_(strings), diagnostics_(diagnostics) {}

  /// False if the record is no metadata.
  bool ReadMetadata(std::string_view record, TraceInfo& info);

  /// Null if the node cannot be used; then it has been counted. Valid until the
  /// next call.
  const ChakraNode* ReadNode(std::string_view record);

 private:
  void ReadAttribute(const chakra::Attribute& attribute);
  void ReadInteger(std::string_view name, int64_t value);
  void ReadText(std::string_view name, std::string_view value);
  void ReadNanoseconds(std::string_view name, Duration time);
  void ReadTimes();
  std::optional<Duration> TimeOf(uint64_t microseconds);
  StringId Intern(const std::string& text);
  /// The text with what is not UTF-8 replaced, and counted.
  std::string_view Clean(const std::string& text);

  StringPool& strings_;
  Diagnostics& diagnostics_;
  chakra::Node message_;  // Kept for its memory.
  ChakraNode node_;
  std::string buffer_;
};

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_CHAKRA_MESSAGE_READER_H_
