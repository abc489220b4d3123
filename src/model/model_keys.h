// The words of model files, and what other programs call the same things.
#ifndef STEPCAST_MODEL_MODEL_KEYS_H_
#define STEPCAST_MODEL_MODEL_KEYS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/files/toml_read.h"
#include "base/result.h"

namespace stepcast::model {

/// Members of a table by our own words. An alias of one stands under it.
class ModelKeys {
 public:
  /// `known` are our words for this kind of table. Fails at words that are
  /// neither known nor an alias of a known one, with the nearest one, and where
  /// two words mean the same.
  static Result<ModelKeys> Make(const toml::table& table,
                                std::span<const std::string_view> known);

  /// Null if it is not given.
  const toml::node* Find(std::string_view key) const;
  /// The word the file uses for `key`.
  std::string_view WordFor(std::string_view key) const;
  const toml::table& table() const { return *table_; }

  /// Left out: `otherwise`. Else a whole number of `least` to `most`.
  Result<int64_t> Whole(std::string_view key, int64_t otherwise, int64_t least,
                        int64_t most) const;
  /// Left out: `otherwise`. Else a number above `least`, at most `most`.
  Result<double> Number(std::string_view key, double otherwise, double least,
                        double most) const;
  /// Left out: `otherwise`. Else text.
  Result<std::string> Text(std::string_view key,
                           std::string_view otherwise) const;
  /// Left out: false. Else a truth value.
  Result<bool> Flag(std::string_view key) const;
  /// Left out: none. Else a number, a list of them, or text like "512-256-1"
  /// or "512,256,1"; each of them of `least` to `most`.
  Result<std::vector<int64_t>> Wholes(std::string_view key, int64_t least,
                                      int64_t most) const;
  /// The same for numbers above `least`.
  Result<std::vector<double>> Numbers(std::string_view key, double least,
                                      double most) const;

 private:
  struct Entry {
    const toml::node* node = nullptr;
    std::string_view word;
  };

  const toml::table* table_ = nullptr;
  std::map<std::string, Entry, std::less<>> entries_;
};

/// The file says an MLP's input first ("arch-mlp-bot" of facebookresearch/dlrm)
/// under this word; otherwise only what follows it.
inline constexpr std::string_view kBottomWithInput = "arch_mlp_bot";

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_MODEL_KEYS_H_
