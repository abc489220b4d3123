#include "ir/text/shape_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"
#include "ir/names.h"
#include "ir/outline.h"
#include "ir/shape_fields.h"

namespace stepcast::ir {
namespace {

// --- Values as text ---

void AppendValue(std::string& out, int64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}
void AppendValue(std::string& out, Bytes value) {
  AppendValue(out, value.count);
}
void AppendValue(std::string& out, bool value) {
  out += value ? "true" : "false";
}
void AppendValue(std::string& out, double value) {
  out += fmt::format("{}", value);
}
void AppendValue(std::string& out, const std::vector<int64_t>& value) {
  for (size_t i = 0; i < value.size(); ++i) {
    if (i > 0) {
      out += ',';
    }
    AppendValue(out, value[i]);
  }
}
template <typename E>
requires std::is_enum_v<E>
void AppendValue(std::string& out, E value) {
  out += Name(value);
}

// --- Text as values; each returns what was expected if the text is no such
// value, otherwise nothing ---

std::string SetValue(int64_t& value, std::string_view text) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? "" : "a whole number";
}
std::string SetValue(double& value, std::string_view text) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && std::isfinite(value)
             ? ""
             : "a number";
}
std::string SetValue(Bytes& value, std::string_view text) {
  return SetValue(value.count, text);
}
std::string SetValue(bool& value, std::string_view text) {
  value = text == "true";
  return value || text == "false" ? "" : "true or false";
}
std::string SetValue(std::vector<int64_t>& value, std::string_view text) {
  constexpr const char* kExpected = "whole numbers with commas between";
  value.clear();
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    int64_t number = 0;
    if (!SetValue(number, text.substr(0, comma)).empty()) {
      return kExpected;
    }
    value.push_back(number);
    if (comma == text.size()) {
      return "";
    }
    text.remove_prefix(comma + 1);
  }
}
template <typename E>
requires std::is_enum_v<E> std::string SetValue(E& value,
                                                std::string_view text) {
  if (const auto found = FromName<E>(text)) {
    value = *found;
    return "";
  }
  return Join(Names<E>::kList, ", ");
}

tl::unexpected<Error> Bad(std::string_view word, std::string_view what) {
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("'{}': {}", ShownText(word), what));
}

// --- Fields without their types, so that what follows is compiled once and not
// for each family ---

// What can be done with a value of one type.
struct ValueType {
  void (*append)(std::string& out, const void* value) = nullptr;
  std::string (*set)(void* value, std::string_view text) = nullptr;
  bool (*equal)(const void* a, const void* b) = nullptr;
};

template <typename T>
constexpr ValueType kValueType{
    .append =
        [](std::string& out, const void* value) {
          AppendValue(out, *static_cast<const T*>(value));
        },
    .set =
        [](void* value, std::string_view text) {
          return SetValue(*static_cast<T*>(value), text);
        },
    .equal =
        [](const void* a, const void* b) {
          return *static_cast<const T*>(a) == *static_cast<const T*>(b);
        }};

// A field of one shape; Address is a pointer to void or to const void.
template <typename Address>
struct FieldOf {
  std::string_view key;
  Address value = nullptr;
  const ValueType* type = nullptr;
};
using ConstField = FieldOf<const void*>;
using MutableField = FieldOf<void*>;

template <typename Address, typename S, typename T>
FieldOf<Address> MakeField(S& shape,
                           const Field<std::remove_const_t<S>, T>& field) {
  return {field.key, &(shape.*field.member), &kValueType<T>};
}

template <typename Address, typename S>
auto FieldsOf(S& shape) {
  return std::apply(
      [&](const auto&... fields) {
        return std::array<FieldOf<Address>, sizeof...(fields)>{
            MakeField<Address>(shape, fields)...};
      },
      Family<std::remove_const_t<S>>::kFields);
}

// All fields of a shape that differ from those of a default one.
void AppendFields(std::string& out, std::span<const ConstField> fields,
                  std::span<const ConstField> defaults) {
  for (size_t i = 0; i < fields.size(); ++i) {
    const ConstField& field = fields[i];
    if (field.type->equal(field.value, defaults[i].value)) {
      continue;
    }
    out += ' ';
    out += field.key;
    out += '=';
    field.type->append(out, field.value);
  }
}

// Sets the field called by the key of `word`, and returns its place in the
// family.
Result<uint32_t> SetField(std::span<const MutableField> fields,
                          std::string_view family, std::string_view word) {
  const size_t equals = std::min(word.find('='), word.size());
  const std::string_view key = word.substr(0, equals);
  const auto found = std::ranges::find(fields, key, &MutableField::key);
  if (found == fields.end() || equals == word.size()) {
    std::string keys;
    for (const MutableField& field : fields) {
      keys += fmt::format("{}{}=", keys.empty() ? "" : ", ", field.key);
    }
    return Bad(word, fmt::format("no field of {}; expected {}", family,
                                 keys.empty() ? "none" : keys));
  }
  const std::string expected =
      found->type->set(found->value, word.substr(equals + 1));
  if (!expected.empty()) {
    return Bad(word, fmt::format("expected {}", expected));
  }
  return static_cast<uint32_t>(found - fields.begin());
}

struct FamilyRow {
  std::string_view name;
  KernelShape (*make)() = nullptr;
};

template <size_t... I>
constexpr auto MakeFamilies(std::index_sequence<I...> /*unused*/) {
  return std::array{
      FamilyRow{Family<std::variant_alternative_t<I, KernelShape>>::kName,
                [] { return KernelShape(std::in_place_index<I>); }}...};
}

constexpr auto kFamilies =
    MakeFamilies(std::make_index_sequence<std::variant_size_v<KernelShape>>());

std::string AllFamilies() {
  std::string out;
  for (const FamilyRow& row : kFamilies) {
    out += fmt::format("{}{}", out.empty() ? "" : ", ", row.name);
  }
  return out;
}

}  // namespace

void AppendShape(std::string& out, const KernelShape& shape) {
  out += FamilyName(shape);
  std::visit(
      [&]<typename S>(const S& typed) {
        const S defaults;
        AppendFields(out, FieldsOf<const void*>(typed),
                     FieldsOf<const void*>(defaults));
      },
      shape);
}

std::string ShapeText(const KernelShape& shape) {
  std::string out;
  AppendShape(out, shape);
  return out;
}

Result<ShapeReader> ShapeReader::Start(std::string_view family) {
  for (const FamilyRow& row : kFamilies) {
    if (row.name == family) {
      return ShapeReader(row.make());
    }
  }
  return Bad(family,
             fmt::format("unknown kind of shape; expected {}", AllFamilies()));
}

Status ShapeReader::Add(std::string_view word) {
  ASSIGN_OR_RETURN(const uint32_t place, std::visit(
                                             [&]<typename S>(S& typed) {
                                               return SetField(
                                                   FieldsOf<void*>(typed),
                                                   Family<S>::kName, word);
                                             },
                                             shape_));
  const uint32_t bit = uint32_t{1} << place;
  if ((seen_ & bit) != 0) {
    return Bad(word, "given twice");
  }
  seen_ |= bit;
  return {};
}

Result<KernelShape> ParseShape(std::string_view text) {
  std::optional<ShapeReader> reader;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) {
      break;
    }
    const size_t size = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, size);
    text.remove_prefix(size);
    if (reader) {
      RETURN_IF_ERROR(reader->Add(word));
    } else {
      ASSIGN_OR_RETURN(reader, ShapeReader::Start(word));
    }
  }
  if (!reader) {
    return Bad("", fmt::format("no shape; expected {}", AllFamilies()));
  }
  return reader->shape();
}

}  // namespace stepcast::ir
