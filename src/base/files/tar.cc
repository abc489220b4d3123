#include "base/files/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text/text_table.h"

namespace stepcast {
namespace {

constexpr size_t kBlock = 512;
using Block = std::array<char, kBlock>;

// Fields of a header: POSIX.1-1988 (ustar), with GNU's extensions.
struct Field {
  size_t at = 0;
  size_t size = 0;
};
constexpr Field kName{.at = 0, .size = 100};
constexpr Field kSize{.at = 124, .size = 12};
constexpr Field kChecksum{.at = 148, .size = 8};
constexpr size_t kType = 156;
constexpr Field kMagic{.at = 257, .size = 5};
constexpr Field kPrefix{.at = 345, .size = 155};

// Names and pax records longer than this are not names of files.
constexpr uint64_t kLongestName = uint64_t{1} << 20;
// Files are read in chunks of this size, so that a header cannot make us
// allocate more than the file has.
constexpr size_t kChunk = size_t{1} << 20;

std::string_view FieldOf(std::string_view header, Field field) {
  return header.substr(field.at, field.size);
}

std::string_view UpToNul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

// Octal digits between spaces and NULs, or GNU's base 256 with the top bit set.
std::optional<uint64_t> ParseNumber(std::string_view field) {
  const auto first = static_cast<unsigned char>(field.front());
  if ((first & 0x80U) != 0) {
    uint64_t number = first & 0x3FU;
    for (const char c : field.substr(1)) {
      if ((number >> 55) != 0) {
        return std::nullopt;
      }
      number = number << 8 | static_cast<unsigned char>(c);
    }
    return (first & 0x40U) != 0 ? std::nullopt : std::optional(number);
  }
  const size_t begin = std::min(field.find_first_not_of(' '), field.size());
  field = UpToNul(field.substr(begin));
  field = field.substr(0, field.find(' '));
  uint64_t number = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, number, 8);
  if (error != std::errc() || stop != end) {
    return field.empty() ? std::optional<uint64_t>(0) : std::nullopt;
  }
  return number;
}

// The sum of the header's bytes with its own field taken as spaces.
bool HasValidChecksum(std::string_view header) {
  const auto expected = ParseNumber(FieldOf(header, kChecksum));
  uint64_t plain = 0;
  int64_t with_sign = 0;  // Some old writers added up signed bytes.
  for (size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= kChecksum.at && i < kChecksum.at + kChecksum.size;
    const char c = own ? ' ' : header[i];
    plain += static_cast<unsigned char>(c);
    with_sign += static_cast<signed char>(c);
  }
  return expected &&
         (*expected == plain || static_cast<int64_t>(*expected) == with_sign);
}

bool IsZero(const Block& block) {
  return std::ranges::all_of(block, [](char c) { return c == '\0'; });
}

bool IsRegular(char type) {
  return type == '0' || type == '\0' || type == '7';
}

std::string NameOf(std::string_view header) {
  std::string name(UpToNul(FieldOf(header, kName)));
  if (FieldOf(header, kMagic) == "ustar") {
    const std::string_view prefix = UpToNul(FieldOf(header, kPrefix));
    // GNU keeps times where POSIX keeps the prefix; they begin with a digit
    // and GNU's magic goes on with a space.
    const bool gnu = header[kMagic.at + kMagic.size] == ' ';
    if (!prefix.empty() && !gnu) {
      name = fmt::format("{}/{}", prefix, name);
    }
  }
  return name;
}

// What the headers before a file say about it.
struct Overrides {
  std::optional<std::string> name;
  std::optional<uint64_t> size;
};

// pax records: "<length> <key>=<value>\n", where the length counts it all.
void ParsePax(std::string_view text, Overrides& overrides) {
  while (!text.empty()) {
    size_t length = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, length);
    if (error != std::errc() || length == 0 || length > text.size() ||
        stop == end || *stop != ' ') {
      return;
    }
    const auto digits = static_cast<size_t>(stop - text.data());
    if (length < digits + 2) {
      return;
    }
    const std::string_view record =
        text.substr(digits + 1, length - digits - 2);
    const size_t equals = record.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view key = record.substr(0, equals);
      const std::string_view value = record.substr(equals + 1);
      uint64_t size = 0;
      if (key == "path") {
        overrides.name = std::string(value);
      } else if (key == "size" &&
                 std::from_chars(value.data(), value.data() + value.size(),
                                 size)
                         .ec == std::errc()) {
        overrides.size = size;
      }
    }
    text.remove_prefix(length);
  }
}

class Reader {
 public:
  Reader(ByteSource& source, size_t limit) : source_(source), left_(limit) {}

  Result<std::vector<TarMember>> Read() {
    std::vector<TarMember> members;
    while (true) {
      Block block{};
      ASSIGN_OR_RETURN(const size_t got, Fill(block));
      // Two blocks of zeros end an archive; some writers leave them out.
      if (got == 0 || (got == kBlock && IsZero(block))) {
        return members;
      }
      const std::string_view header(block.data(), kBlock);
      if (got < kBlock || !HasValidChecksum(header)) {
        return Fail(ErrorCode::kInvalidInput,
                    fmt::format("damaged tar archive: no header at byte {}",
                                offset_ - got));
      }
      RETURN_IF_ERROR(ReadEntry(header, members));
    }
  }

 private:
  Status ReadEntry(std::string_view header, std::vector<TarMember>& members) {
    auto size = ParseNumber(FieldOf(header, kSize));
    const char type = header[kType];
    const bool extends = type == 'L' || type == 'x';
    std::string name = NameOf(header);
    if (!extends && type != 'g' && type != 'K') {
      name = overrides_.name.value_or(std::move(name));
      size = overrides_.size ? overrides_.size : size;
      overrides_ = {};
    }
    if (!size) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("damaged tar archive: no size of '{}'", Printable(name)));
    }
    if (extends && *size <= kLongestName) {
      ASSIGN_OR_RETURN(const std::string text, Content(*size, name, true));
      if (type == 'L') {
        overrides_.name = std::string(UpToNul(text));
      } else {
        ParsePax(text, overrides_);
      }
      return {};
    }
    const bool keep = IsRegular(type) && !name.ends_with('/');
    ASSIGN_OR_RETURN(std::string bytes, Content(*size, name, keep));
    if (keep) {
      members.push_back({.name = std::move(name), .bytes = std::move(bytes)});
    }
    return {};
  }

  // The content after a header and the padding to a whole block.
  Result<std::string> Content(uint64_t size, std::string_view name, bool keep) {
    if (keep && size > left_) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("'{}' in the tar archive is too large: {} bytes",
                              Printable(name), size));
    }
    left_ -= keep ? static_cast<size_t>(size) : 0;
    std::string bytes;
    std::string skipped;
    for (uint64_t done = 0; done < size;) {
      const auto segment =
          static_cast<size_t>(std::min<uint64_t>(kChunk, size - done));
      std::string& to = keep ? bytes : skipped;
      const size_t at = keep ? to.size() : 0;
      to.resize(at + segment);
      ASSIGN_OR_RETURN(const size_t got,
                       Fill(std::span(to.data() + at, segment)));
      done += got;
      if (got < segment) {
        return Fail(ErrorCode::kInvalidInput,
                    fmt::format("the tar archive is cut off inside '{}' "
                                "({} of {} bytes)",
                                Printable(name), done, size));
      }
    }
    Block padding{};
    const auto rest = static_cast<size_t>((kBlock - size % kBlock) % kBlock);
    ASSIGN_OR_RETURN(const size_t got, Fill(std::span(padding).first(rest)));
    (void)got;  // Nothing is lost if the last padding is missing.
    return bytes;
  }

  // Fills the buffer; less only at the end.
  Result<size_t> Fill(std::span<char> buffer) {
    size_t filled = 0;
    while (filled < buffer.size()) {
      ASSIGN_OR_RETURN(const size_t got, source_.Read(buffer.subspan(filled)));
      if (got == 0) {
        break;
      }
      filled += got;
    }
    offset_ += filled;
    return filled;
  }

  ByteSource& source_;
  size_t left_;  // Bytes that files may still hold.
  uint64_t offset_ = 0;
  Overrides overrides_;
};

}  // namespace

bool SniffTar(std::string_view head) {
  if (head.size() < kBlock || head.front() == '\0') {
    return false;
  }
  const std::string_view header = head.substr(0, kBlock);
  return HasValidChecksum(header) && ParseNumber(FieldOf(header, kSize));
}

Result<std::vector<TarMember>> ReadTar(ByteSource& source, size_t limit) {
  return Reader(source, limit).Read();
}

}  // namespace stepcast
