// Runs a fuzz target once over saved inputs, where libFuzzer is not there to.
//
// usage: <name>_replay FILE_OR_DIRECTORY...
//
// Every file is run whole and, because cut-off files are the most common
// damage, cut off at up to kCuts places.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kCuts = 64;

void RunOn(const std::string& bytes, size_t size) {
  // A copy of the exact size, so that reading after the end is noticed.
  const std::vector<uint8_t> copy(
      bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

bool Replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file.good()) {
    static_cast<void>(std::fprintf(stderr, "cannot read %s\n", path.c_str()));
    return false;
  }
  const size_t step = std::max<size_t>(1, bytes.size() / kCuts);
  for (size_t size = 0; size < bytes.size(); size += step) {
    RunOn(bytes, size);
  }
  RunOn(bytes, bytes.size());
  return true;
}

// The files in and below the paths given, in order of name.
std::vector<std::filesystem::path> FilesOf(
    const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const std::filesystem::path& path : paths) {
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    for (std::filesystem::recursive_directory_iterator it(path, error), end;
         it != end; it.increment(error)) {
      if (it->is_regular_file(error)) {
        files.push_back(it->path());
      }
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::filesystem::path> files =
      FilesOf({argv + 1, argv + argc});
  bool ok = !files.empty();
  for (const std::filesystem::path& file : files) {
    ok = Replay(file) && ok;
  }
  std::printf("replayed %zu files\n", files.size());
  return ok ? 0 : 1;
}
