// What is read from files of one kind (GPUs, servers, models, ...): those that
// are built in and those of the user. Each file is read at most once.
#ifndef STEPCAST_BASE_FILES_CATALOG_H_
#define STEPCAST_BASE_FILES_CATALOG_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/files/embedded.h"
#include "base/result.h"

namespace stepcast {

/// Gives the text of a file that another one names, from the same directory.
using ReadSibling = std::function<Result<std::string>(std::string_view name)>;

/// One kind of files.
struct CatalogKind {
  std::string_view what;  // In messages: "platform".
  /// Built-in files, each called by its path below data/<folder>/ without the
  /// ending: "dgx-a100", "h200-sxm-141gb/single-node".
  std::span<const EmbeddedFile> files;
  std::string_view ending = ".toml";
  /// Which of the files are of this kind; null: all with the ending.
  bool (*holds)(const EmbeddedFile& file) = nullptr;
  /// The name that is meant by another spelling, and those that may be meant by
  /// an unknown one. Not given: case, "-" and "_" do not matter; the nearest.
  std::optional<std::string> (*same)(
      std::string_view text, std::span<const std::string> names) = nullptr;
  std::vector<std::string> (*near)(
      std::string_view text, std::span<const std::string> names) = nullptr;
};

/// What catalogs do, whatever their files say.
class FileCatalog {
 public:
  /// The built-in names, sorted.
  const std::vector<std::string>& names() const { return names_; }
  /// The built-in name that `text` means, if it means one.
  std::optional<std::string> NameOf(std::string_view text) const;

 protected:
  using Value = std::shared_ptr<const void>;
  using Parser = std::function<Result<Value>(
      std::string_view text, std::string_view source, const ReadSibling& read)>;

  FileCatalog(CatalogKind kind, Parser parse);
  FileCatalog(const FileCatalog&) = delete;
  FileCatalog& operator=(const FileCatalog&) = delete;
  ~FileCatalog();

  Result<const void*> FindValue(std::string_view text) const;
  Result<const void*> ReadValue(const std::filesystem::path& path) const;
  Result<const void*> FindValueIn(
      std::span<const std::filesystem::path> directories,
      std::string_view name) const;

 private:
  struct BuiltIn;
  struct UserFile;
  Result<const void*> BuiltInValue(std::string_view name) const;

  CatalogKind kind_;
  Parser parse_;
  std::vector<std::string> names_;
  std::unique_ptr<BuiltIn[]> built_in_;  // In the order of names.
  mutable std::mutex mutex_;             // Of what follows.
  mutable std::map<std::string, std::vector<UserFile>> user_files_;
};

/// Values stay where they are as long as the catalog. Threads may ask at once.
/// A file of the user that has changed since it was read is read again.
template <typename T>
class Catalog : public FileCatalog {
 public:
  /// `parse(text, source)` or `parse(text, source, read_beside)` makes a
  /// Result<T>; `source` is the file's name in messages.
  template <typename Parse>
  Catalog(CatalogKind kind, Parse parse)
      : FileCatalog(
            kind,
            [parse](std::string_view text, std::string_view source,
                    const ReadSibling& read) -> Result<Value> {
              auto value = [&] {
                if constexpr (std::is_invocable_v<Parse, std::string_view,
                                                  std::string_view>) {
                  return parse(text, source);
                } else {
                  return parse(text, source, read);
                }
              }();
              if (!value) {
                return tl::unexpected(std::move(value).error());
              }
              return std::make_shared<const T>(*std::move(value));
            }) {}

  /// By what the user calls it: a built-in name, or a path with the ending. An
  /// unknown name fails with those that may be meant.
  Result<const T*> Find(std::string_view text) const {
    return FindValue(text).map(kTyped);
  }
  /// From a file of the user, whatever it is called.
  Result<const T*> Read(const std::filesystem::path& path) const {
    return ReadValue(path).map(kTyped);
  }
  /// "t4/ceilings" of the first directory that has it, else the built-in one;
  /// null if there is none.
  Result<const T*> FindIn(std::span<const std::filesystem::path> directories,
                          std::string_view name) const {
    return FindValueIn(directories, name).map(kTyped);
  }
  /// All that are built in, by name.
  Result<std::vector<const T*>> All() const {
    std::vector<const T*> all;
    for (const std::string& name : names()) {
      ASSIGN_OR_RETURN(const T* value, FindIn({}, name));
      all.push_back(value);
    }
    return all;
  }

 private:
  static constexpr auto kTyped = [](const void* value) {
    return static_cast<const T*>(value);
  };
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_FILES_CATALOG_H_
