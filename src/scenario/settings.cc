#include "scenario/settings.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>

#include "base/nearest.h"

namespace stepcast::scenario {
namespace {

constexpr Subjects kAll{
    .model = true, .server = true, .fleet = true, .trace = true};
constexpr Subjects kModels{.model = true, .server = true, .fleet = true};
constexpr Subjects kSteps{.model = true, .server = true, .trace = true};
constexpr Subjects kModelSteps{.model = true, .server = true};
constexpr Subjects kGpuSteps{.model = true, .trace = true};
constexpr Subjects kGpuModels{.model = true};
constexpr Subjects kServers{.server = true, .fleet = true};
constexpr Subjects kServerSteps{.server = true};
constexpr Subjects kFleets{.fleet = true};
constexpr Subjects kTraces{.trace = true};

constexpr std::array kSettings = {
    Setting{.name = "gpu",
            .value = "NAME",
            .help = "GPU, as in `stepcast list gpus`",
            .standard = "a100-sxm-80gb; of a trace the recorded one",
            .example = "h100-sxm-80gb",
            .member = &Scenario::gpu,
            .subjects = kGpuSteps},
    Setting{.name = "gpus",
            .value = "N",
            .help = "GPUs over all nodes; default 1",
            .standard = "1",
            .example = "4",
            .member = &Scenario::gpus,
            .subjects = kGpuModels,
            .instead = "a recorded step keeps its ranks; predict a model for "
                       "other numbers"},
    Setting{.name = "nodes",
            .value = "N",
            .help = "servers; default 1",
            .standard = "1",
            .example = "2",
            .member = &Scenario::nodes,
            .subjects = kModelSteps,
            .instead = "a recorded step keeps its nodes; predict a model for "
                       "other numbers"},
    Setting{.name = "platform",
            .value = "NAME",
            .help = "server, as in `stepcast list platforms`; default: one "
                    "with the GPU",
            .standard = "one that has the GPU",
            .example = "dgx-a100",
            .member = &Scenario::platform,
            .subjects = kGpuSteps},
    Setting{.name = "server",
            .value = "NAME",
            .help = "servers without GPUs instead, as in `stepcast list "
                    "servers`",
            .standard = "none",
            .example = "2s-skylake",
            .member = &Scenario::server,
            .subjects = kServers,
            .instead = "the kernels of a recording are those of a GPU; "
                       "predict its model there"},
    Setting{.name = "runtime",
            .value = "NAME",
            .help = "what runs operators there, as in `stepcast list "
                    "servers`; default: as --impl",
            .standard = "as impl",
            .example = "caffe2",
            .member = &Scenario::runtime,
            .subjects = kServerSteps},
    Setting{.name = "batch",
            .value = "N",
            .help = "samples a GPU; with --server over all, with --trainers "
                    "of a thread",
            .standard = "the model's",
            .example = "512",
            .member = &Scenario::batch,
            .subjects = kModels,
            .instead = "use `stepcast whatif FILE --change batch=N`"},
    Setting{.name = "mode",
            .value = "MODE",
            .help = "train or infer",
            .standard = "train",
            .example = "infer",
            .member = &Scenario::mode,
            .subjects = kModels,
            .instead = "a recording is of one mode; predict its model in the "
                       "other"},
    Setting{.name = "precision",
            .value = "TYPE",
            .help = "fp32, tf32, amp-fp16, fp16 or bf16",
            .standard = "the model's, or fp32",
            .example = "bf16",
            .member = &Scenario::precision,
            .subjects = kModelSteps,
            .instead = "use `stepcast whatif FILE --change precision=TYPE`"},
    Setting{.name = "impl",
            .value = "NAME",
            .help = "how the framework runs the model",
            .standard = "the model's, or pytorch",
            .example = "torchrec",
            .member = &Scenario::impl,
            .subjects = kModelSteps,
            .instead = "a recording is of one implementation; predict its "
                       "model with the other"},
    Setting{.name = "cuda-graphs",
            .value = "WHAT",
            .help = "off, fwd, fwd+bwd or all",
            .standard = "off",
            .example = "all",
            .member = &Scenario::cuda_graphs,
            .subjects = kModelSteps,
            .instead = "use `stepcast whatif FILE --change cuda-graphs=WHAT`"},
    Setting{.name = "placement",
            .value = "WHERE",
            .help = "where tables are: hbm, uvm, uvm-cache, host-cache (both "
                    "with :SHARE of\nrows on the GPU), host, remote, hybrid "
                    "(hot tables on the GPU, others\non the host), "
                    "hybrid-remote, or a .toml file, table by table",
            .standard = "the model's, or hbm",
            .example = "host",
            .member = &Scenario::placement,
            .subjects = kModelSteps,
            .instead = "predict its model with the other placement"},
    Setting{.name = "plan",
            .value = "FILE",
            .help = "with several GPUs and --impl torchrec: who has which "
                    "table, a\nplan of TorchRec's as `stepcast plan --out` "
                    "writes it",
            .standard = "as the implementation shards",
            .example = "plan.json",
            .member = &Scenario::plan,
            .subjects = kGpuModels,
            .instead = "predict its model with the plan"},
    Setting{.name = "pageable",
            .value = "",
            .help = "input copies come from pageable memory",
            .standard = "pinned",
            .example = "",
            .member = &Scenario::pageable,
            .subjects = kGpuModels,
            .instead = "its copies are what they were; `stepcast whatif FILE "
                       "--change pin-copies` pins them"},
    Setting{.name = "overheads",
            .value = "NAME",
            .help = "the host's time: a built-in set or a file; for traces "
                    "also self\n(means of the trace, the default) and "
                    "measured",
            .standard = "the implementation's; of a trace self",
            .example = "shared",
            .member = &Scenario::overheads,
            .subjects = kSteps},
    Setting{.name = "profile",
            .value = "DIR",
            .help = "directory that `stepcast fit` wrote; may be repeated",
            .standard = "none",
            .example = "profile/",
            .member = &Scenario::profile,
            .subjects = kSteps},
    Setting{.name = "profiled",
            .value = "",
            .help = "with the time that a profiler takes",
            .standard = "without; of a recorded step with it",
            .example = "",
            .member = &Scenario::profiled,
            .subjects = kSteps},
    Setting{.name = "step",
            .value = "N",
            .help = "of a trace: the step, as in ProfilerStep#N",
            .standard = "a steady one",
            .example = "2",
            .member = &Scenario::step,
            .subjects = kTraces},
    Setting{.name = "samples",
            .value = "N",
            .help = "draws for the interval; default 100, 0: no interval",
            .standard = "100",
            .example = "0",
            .member = &Scenario::samples,
            .subjects = kAll},
    Setting{.name = "seed",
            .value = "N",
            .help = "of what is drawn; default 1",
            .standard = "1",
            .example = "7",
            .member = &Scenario::seed,
            .subjects = kAll},
    Setting{.name = "trainers",
            .value = "N",
            .help = "train asynchronously on so many servers; default 1",
            .standard = "1",
            .example = "6",
            .member = &Scenario::trainers,
            .subjects = kFleets},
    Setting{.name = "hogwild",
            .value = "N",
            .help = "threads of a trainer; default: one a core",
            .standard = "one per core",
            .example = "4",
            .member = &Scenario::hogwild,
            .subjects = kFleets},
    Setting{.name = "sparse-servers",
            .value = "N",
            .help = "servers that hold the tables; default 1",
            .standard = "1",
            .example = "8",
            .member = &Scenario::sparse_servers,
            .subjects = kFleets},
    Setting{.name = "dense-servers",
            .value = "N",
            .help = "servers that average the MLPs; default 1",
            .standard = "1",
            .example = "2",
            .member = &Scenario::dense_servers,
            .subjects = kFleets},
    Setting{.name = "sparse-server",
            .value = "NAME",
            .help = "which servers hold the tables; default: as --server",
            .standard = "as server",
            .example = "2s-epyc-7742",
            .member = &Scenario::sparse_server,
            .subjects = kFleets},
    Setting{.name = "dense-server",
            .value = "NAME",
            .help = "which servers average; default: as --server",
            .standard = "as server",
            .example = "2s-epyc-7742",
            .member = &Scenario::dense_server,
            .subjects = kFleets},
    Setting{.name = "sync-every",
            .value = "N",
            .help = "iterations of a thread between averagings; default 10",
            .standard = "10",
            .example = "100",
            .member = &Scenario::sync_every,
            .subjects = kFleets},
};

// Whether two names are the same but for `_` and `-`.
bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return x == y || ((x == '_' || x == '-') && (y == '_' || y == '-'));
  });
}

std::string UnknownSetting(std::string_view name) {
  std::array<std::string_view, kSettings.size()> names;
  std::ranges::transform(kSettings, names.begin(), &Setting::name);
  std::ranges::sort(names);
  return Unknown("setting", name, names);
}

// What to do instead of setting it there.
std::string Advice(const Setting& setting, Subject subject) {
  if (subject == Subject::kTrace && !setting.instead.empty()) {
    return std::string(setting.instead);
  }
  std::string subjects;
  for (const Subject other :
       {Subject::kModel, Subject::kServer, Subject::kFleet, Subject::kTrace}) {
    if (setting.subjects.Has(other)) {
      subjects +=
          fmt::format("{}{}", subjects.empty() ? "" : ", ", Describe(other));
    }
  }
  return fmt::format("it is of {}", subjects);
}

}  // namespace

std::string_view Describe(Subject subject) {
  switch (subject) {
    case Subject::kModel:
      return "a model on GPUs";
    case Subject::kServer:
      return "a model on servers without GPUs";
    case Subject::kFleet:
      return "a fleet of servers";
    case Subject::kTrace:
      return "a recorded step";
  }
  return "";
}

bool Subjects::Has(Subject subject) const {
  switch (subject) {
    case Subject::kModel:
      return model;
    case Subject::kServer:
      return server;
    case Subject::kFleet:
      return fleet;
    case Subject::kTrace:
      return trace;
  }
  return false;
}

bool Setting::OfFleets() const {
  return subjects.fleet && !subjects.model && !subjects.server &&
         !subjects.trace;
}

bool Setting::IsSet(const Scenario& scenario) const {
  return std::visit(
      [&]<typename T>(T Scenario::*field) { return scenario.*field != T{}; },
      member);
}

std::span<const Setting> Settings() {
  return kSettings;
}

const Setting* FindSetting(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kSettings,
      [&](const Setting& setting) { return SameName(setting.name, name); });
  return found == std::end(kSettings) ? nullptr : found;
}

Status SetSetting(std::string_view text, std::string_view where,
                  Scenario& scenario) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  const Setting* const setting = FindSetting(name);
  if (setting == nullptr) {
    return Fail(ErrorCode::kInvalidInput, UnknownSetting(name));
  }
  if (setting->IsFlag() && equals != text.size()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has a value in '{}'; expected the word alone",
                            setting->name, where));
  }
  if (!setting->IsFlag() && equals == text.size()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no value in '{}'; expected NAME=VALUE",
                            name, where));
  }
  const std::string value(text.substr(std::min(equals + 1, text.size())));
  std::visit(
      [&]<typename T>(T Scenario::*member) {
        if constexpr (std::is_same_v<T, bool>) {
          scenario.*member = true;
        } else if constexpr (std::is_same_v<T, std::string>) {
          scenario.*member = value;
        } else {
          (scenario.*member).insert((scenario.*member).begin(), value);
        }
      },
      setting->member);
  return {};
}

Subject SubjectOfModel(const Scenario& scenario) {
  const bool fleet =
      std::ranges::any_of(kSettings, [&](const Setting& setting) {
        return setting.OfFleets() && setting.IsSet(scenario);
      });
  return fleet                     ? Subject::kFleet
         : scenario.server.empty() ? Subject::kModel
                                   : Subject::kServer;
}

void ClearOthers(Subject subject, Scenario& scenario) {
  for (const Setting& setting : kSettings) {
    if (!setting.subjects.Has(subject)) {
      std::visit([&]<typename T>(T Scenario::*field) { scenario.*field = T{}; },
                 setting.member);
    }
  }
}

Status CheckSubject(const Scenario& scenario, Subject subject) {
  for (const Setting& setting : kSettings) {
    if (setting.subjects.Has(subject) || !setting.IsSet(scenario)) {
      continue;
    }
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} means nothing for {}; {}", setting.name,
                            Describe(subject), Advice(setting, subject)));
  }
  return {};
}

}  // namespace stepcast::scenario
