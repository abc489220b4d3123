// The options that say which step is meant.
#include <filesystem>

#include "cli/predict_command.h"
#include "workload/model_files.h"

namespace stepcast::cli {

void AddWorkloadOptions(OptionParser& parser, PredictCommand& command) {
  AddInputOptions(parser, command.input);
  parser.Add("--gpu", command.gpu, "GPU, as in `stepcast list gpus`", "NAME");
  parser.Add("--gpus", command.gpus, "GPUs over all nodes; default 1", "N");
  parser.Add("--nodes", command.nodes, "servers; default 1", "N");
  parser.Add(
      "--platform", command.platform,
      "server, as in `stepcast list platforms`; default: one with the GPU",
      "NAME");
  parser.Add("--server", command.server,
             "servers without GPUs instead, as in `stepcast list servers`",
             "NAME");
  parser.Add("--runtime", command.runtime,
             "what runs operators there, as in `stepcast list servers`; "
             "default: as --impl",
             "NAME");
  parser.Add("--batch", command.batch,
             "samples a GPU; with --server over all, with --trainers of a "
             "thread",
             "N");
  parser.Add("--mode", command.mode, "train or infer", "MODE");
  parser.Add("--precision", command.precision,
             "fp32, tf32, amp-fp16, fp16 or bf16", "TYPE");
  parser.Add("--impl", command.impl, "how the framework runs the model",
             "NAME");
  parser.Add("--cuda-graphs", command.cuda_graphs, "off, fwd, fwd+bwd or all",
             "WHAT");
  parser.Add(
      "--placement", command.placement,
      "where tables are: hbm, uvm, uvm-cache, host-cache (both with :SHARE of\n"
      "rows on the GPU), host, remote, hybrid (hot tables on the GPU, others\n"
      "on the host), hybrid-remote, or a .toml file, table by table",
      "WHERE");
  parser.Add("--plan", command.plan,
             "with several GPUs and --impl torchrec: who has which table, a\n"
             "plan of TorchRec's as `stepcast plan --out` writes it",
             "FILE");
  parser.AddFlag("--pageable", command.pageable,
                 "input copies come from pageable memory");
  parser.Add("--overheads", command.overheads,
             "the host's time: a built-in set or a file; for traces also self\n"
             "(means of the trace, the default) and measured",
             "NAME");
  parser.AddRepeated("--profile", command.profiles,
                     "directory that `stepcast fit` wrote; may be repeated",
                     "DIR");
  parser.Add("--step", command.step,
             "of a trace: the step, as in ProfilerStep#N", "N");
  parser.Add("--samples", command.samples,
             "draws for the interval; default 100, 0: no interval", "N");
  parser.Add("--seed", command.seed, "of what is drawn; default 1", "N");
}

bool IsModel(const std::vector<std::string>& files) {
  if (files.size() != 1) {
    return files.empty();
  }
  return workload::IsModelName(files.front()) ||
         files.front().ends_with(".toml") ||
         !std::filesystem::exists(files.front());
}

}  // namespace stepcast::cli
