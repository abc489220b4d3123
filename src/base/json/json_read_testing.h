// All items of a document, for tests.
#ifndef STEPCAST_BASE_JSON_JSON_READ_TESTING_H_
#define STEPCAST_BASE_JSON_JSON_READ_TESTING_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/json/json_read.h"

namespace stepcast {

struct JsonItems {
  struct Item {
    std::string key{};
    bool is_record = false;
    std::string raw{};
  };
  std::vector<Item> list{};
  std::string error{};
  JsonRecordReader::Counts counts{};
};

inline JsonItems ReadItems(ByteSource& source,
                           std::span<const std::string_view> record_arrays) {
  JsonRecordReader reader(source, record_arrays);
  JsonItems items;
  while (true) {
    const auto item = reader.Next();
    if (!item) {
      items.error = item.error().message;
      break;
    }
    if (!item->has_value()) {
      break;
    }
    items.list.push_back({.key = std::string((*item)->key),
                          .is_record = (*item)->is_record,
                          .raw = std::string((*item)->value.raw())});
  }
  items.counts = reader.counts();
  return items;
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_JSON_JSON_READ_TESTING_H_
