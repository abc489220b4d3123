#include "collect/cuda/journal.h"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "collect/cuda/random.h"

namespace stepcast::collect {
namespace {

constexpr const char* kFile = "journal.tsv";

std::vector<std::string> SplitTabs(const std::string& line) {
  std::vector<std::string> cells;
  size_t start = 0;
  while (true) {
    const size_t tab = line.find('\t', start);
    cells.push_back(line.substr(start, tab - start));
    if (tab == std::string::npos) {
      return cells;
    }
    start = tab + 1;
  }
}

std::string Checksum(const std::string& text) {
  char hex[17] = "";
  std::snprintf(hex, sizeof(hex), "%016" PRIx64, Hash(text));
  return hex;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string LineOf(const Entry& entry) {
  std::string body = entry.type;
  for (const std::string& cell : entry.cells) {
    body += "\t" + cell;
  }
  return Checksum(body) + "\t" + body + "\n";
}

WholeLines ReadEntries(const std::string& text) {
  WholeLines whole;
  size_t end = text.find('\n');
  while (end != std::string::npos) {
    const std::string line = text.substr(whole.bytes, end - whole.bytes);
    const size_t tab = line.find('\t');
    if (tab == std::string::npos ||
        line.substr(0, tab) != Checksum(line.substr(tab + 1))) {
      break;
    }
    std::vector<std::string> cells = SplitTabs(line.substr(tab + 1));
    Entry entry;
    entry.type = std::move(cells.front());
    entry.cells.assign(std::make_move_iterator(cells.begin() + 1),
                       std::make_move_iterator(cells.end()));
    whole.entries.push_back(std::move(entry));
    whole.bytes = end + 1;
    end = text.find('\n', whole.bytes);
  }
  return whole;
}

std::unique_ptr<Journal> Journal::Open(const std::string& out,
                                       std::string& wrong) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directories(out, failed);
  const std::string path = (fs::path(out) / kFile).string();
  WholeLines whole;
  if (fs::exists(path, failed)) {
    whole = ReadEntries(ReadFile(path));
    fs::resize_file(path, whole.bytes, failed);
  }
  std::FILE* file = failed ? nullptr : std::fopen(path.c_str(), "ab");
  if (file == nullptr) {
    wrong = path + ": cannot be written; expected a directory of yours";
    return nullptr;
  }
  return std::unique_ptr<Journal>(new Journal(file, std::move(whole.entries)));
}

Journal::Journal(std::FILE* file, std::vector<Entry> entries)
    : file_(file), entries_(std::move(entries)) {}

Journal::~Journal() {
  std::fclose(file_);
}

bool Journal::Add(Entry entry) {
  const std::string line = LineOf(entry);
  entries_.push_back(std::move(entry));
  return std::fwrite(line.data(), 1, line.size(), file_) == line.size() &&
         std::fflush(file_) == 0 && fsync(fileno(file_)) == 0;
}

std::string Journal::Settings() const {
  for (const Entry& entry : entries_) {
    if (entry.type == "start" && !entry.cells.empty()) {
      return entry.cells.front();
    }
  }
  return "";
}

std::set<std::string> Journal::Done() const {
  std::set<std::string> done;
  for (const Entry& entry : entries_) {
    if (entry.cells.empty()) {
      continue;
    }
    if (entry.type == "point") {
      done.insert(entry.cells.front());
    } else if (entry.type == "again") {
      done.erase(entry.cells.front());
    }
  }
  return done;
}

std::vector<TableRow> Journal::Rows() const {
  std::map<std::string, size_t> latest;
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.type == "point" && entry.cells.size() == 4) {
      latest[entry.cells[0]] = i;
    } else if (entry.type == "again" && !entry.cells.empty()) {
      latest.erase(entry.cells[0]);
    }
  }
  std::vector<size_t> places;
  places.reserve(latest.size());
  for (const auto& [id, place] : latest) {
    places.push_back(place);
  }
  std::sort(places.begin(), places.end());
  std::vector<TableRow> rows;
  rows.reserve(places.size());
  for (const size_t place : places) {
    const std::vector<std::string>& cells = entries_[place].cells;
    rows.push_back({cells[2], cells[3]});
  }
  return rows;
}

double Journal::SpentSeconds() const {
  double total = 0;
  double last = 0;
  for (const Entry& entry : entries_) {
    if (entry.type == "run") {
      total += last;
      last = 0;
    } else if (entry.cells.size() >= 2) {
      last = std::max(last, std::strtod(entry.cells[1].c_str(), nullptr));
    }
  }
  return total + last;
}

}  // namespace stepcast::collect
