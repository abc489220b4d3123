#include "base/files/catalog.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/text/join.h"
#include "base/text/nearest.h"

namespace stepcast {
namespace {

namespace fs = std::filesystem;

// "collectives/a40/pcie.toml" -> "a40/pcie".
std::string_view NameIn(const EmbeddedFile& file, std::string_view ending) {
  std::string_view name = file.name;
  name.remove_prefix(name.find('/') + 1);
  name.remove_suffix(ending.size());
  return name;
}

std::string PlainSpelling(std::string_view text) {
  std::string plain;
  for (const char letter : text) {
    plain += letter == '-' ? '_'
                           : static_cast<char>(std::tolower(
                                 static_cast<unsigned char>(letter)));
  }
  return plain;
}

std::string UnknownName(const CatalogKind& kind, std::string_view text,
                        const std::vector<std::string>& names) {
  const std::vector<std::string_view> all(names.begin(), names.end());
  std::vector<std::string> near;
  if (kind.near != nullptr) {
    near = kind.near(text, names);
  } else if (const auto nearest = Nearest(text, all)) {
    near.emplace_back(*nearest);
  }
  const std::vector<std::string_view> views(near.begin(), near.end());
  return near.empty()
             ? fmt::format("unknown {} '{}'; expected a {} file or one of: {}",
                           kind.what, text, kind.ending, Join(all, ", "))
             : fmt::format("unknown {} '{}'; did you mean {}?", kind.what, text,
                           OneOf(views));
}

}  // namespace

struct FileCatalog::BuiltIn {
  const EmbeddedFile* file = nullptr;
  std::once_flag once;
  std::optional<Result<Value>> value;
};

struct FileCatalog::UserFile {
  // Shows whether a file has changed since it was read.
  struct Stamp {
    fs::path path;
    fs::file_time_type time{};
    uintmax_t size = 0;

    bool operator==(const Stamp&) const = default;
  };
  static Stamp StampOf(const fs::path& path) {
    Stamp stamp{.path = path};
    std::error_code error;
    stamp.time = fs::last_write_time(path, error);
    stamp.size = fs::file_size(path, error);
    return stamp;
  }
  bool IsUnchanged() const {
    return std::ranges::all_of(stamps, [](const Stamp& stamp) {
      return StampOf(stamp.path) == stamp;
    });
  }

  std::vector<Stamp> stamps;  // Of the file and those that it names.
  Value value;
};

FileCatalog::FileCatalog(CatalogKind kind, Parser parse)
    : kind_(kind), parse_(std::move(parse)) {
  std::vector<const EmbeddedFile*> files;
  for (const EmbeddedFile& file : kind_.files) {
    if (file.name.ends_with(kind_.ending) &&
        (kind_.holds == nullptr || kind_.holds(file))) {
      files.push_back(&file);
    }
  }
  const auto name = [this](const EmbeddedFile* file) {
    return NameIn(*file, kind_.ending);
  };
  std::ranges::sort(files, {}, name);
  built_in_ = std::make_unique<BuiltIn[]>(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    names_.emplace_back(name(files[i]));
    built_in_[i].file = files[i];
  }
}

FileCatalog::~FileCatalog() = default;

std::optional<std::string> FileCatalog::NameOf(std::string_view text) const {
  if (std::ranges::binary_search(names_, text)) {
    return std::string(text);
  }
  if (kind_.same != nullptr) {
    return kind_.same(text, names_);
  }
  const auto same =
      std::ranges::find(names_, PlainSpelling(text), PlainSpelling);
  return same == names_.end() ? std::nullopt : std::optional(*same);
}

Result<const void*> FileCatalog::BuiltInValue(std::string_view name) const {
  const auto place = std::ranges::lower_bound(names_, name);
  BuiltIn& entry = built_in_[static_cast<size_t>(place - names_.begin())];
  std::call_once(entry.once, [&] {
    entry.value =
        parse_(entry.file->text, entry.file->name,
               [](std::string_view sibling) -> Result<std::string> {
                 return Fail(
                     ErrorCode::kNotFound,
                     fmt::format("{}: built-in files name no others", sibling));
               });
  });
  return entry.value->map([](const Value& value) { return value.get(); });
}

Result<const void*> FileCatalog::FindValue(std::string_view text) const {
  if (text.ends_with(kind_.ending)) {
    return ReadValue(fs::path(text));
  }
  const auto name = NameOf(text);
  if (!name) {
    return Fail(ErrorCode::kNotFound, UnknownName(kind_, text, names_));
  }
  return BuiltInValue(*name);
}

Result<const void*> FileCatalog::ReadValue(const fs::path& path) const {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  // Older states are kept: who asked for them may still look at them.
  std::vector<UserFile>& states = user_files_[absolute.string()];
  if (!states.empty() && states.back().IsUnchanged()) {
    return states.back().value.get();
  }
  UserFile state{.stamps = {UserFile::StampOf(absolute)}, .value = nullptr};
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const auto sibling = [&](std::string_view name) {
    state.stamps.push_back(UserFile::StampOf(absolute.parent_path() / name));
    return ReadFile(path.parent_path() / name);
  };
  ASSIGN_OR_RETURN(state.value, parse_(text, path.string(), sibling));
  states.push_back(std::move(state));
  return states.back().value.get();
}

Result<const void*> FileCatalog::FindValueIn(
    std::span<const fs::path> directories, std::string_view name) const {
  for (const fs::path& directory : directories) {
    const fs::path path = directory / fmt::format("{}{}", name, kind_.ending);
    std::error_code error;
    if (fs::is_regular_file(path, error)) {
      return ReadValue(path);
    }
  }
  if (!std::ranges::binary_search(names_, name)) {
    return nullptr;
  }
  return BuiltInValue(name);
}

}  // namespace stepcast
