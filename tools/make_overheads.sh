#!/usr/bin/env bash
# Makes the built-in tables of overheads, data/overheads, from recorded traces
# and published tables: tools/make_overheads.sh STEPCAST DATA, where DATA has the
# folders traces and authors. The same input gives the same bytes.
set -euo pipefail

if [[ $# -ne 2 ]]; then
  echo "usage: $0 STEPCAST DATA" >&2
  exit 2
fi
stepcast=$(realpath "$1")
out=$(realpath "$(dirname "$0")/../data/overheads")
cd "$2"

# make NAME NOTE DATA...
make() {
  local name=$1 note=$2
  shift 2
  echo "== $name"
  "$stepcast" fit overheads --name "$name" --note "$note" --data "$@" \
    -o "$out/$name.toml"
}

param=traces/dlrm_param_8xV100/kineto
torchrec=traces/dlrm_torchrec_4xV100/run3
hta=traces/dlrm_hta_V100_rank1of2
resnet50=traces/resnet50_kineto_V100
linear=traces/linear_param_2080Ti/kineto.json.gz
resnet18=traces/resnet18_param_2080Ti/kineto.json.gz
ddp=traces/resnet50_hta_ddp_A100
h100=traces/small/tracelens_h100_bert_small_inference.json.gz
mi300=traces/small/tracelens_mi300_bert_small_inference.json.gz

make v100-8gpu-dlrm-2023 \
  "TorchRec DLRM, batch 16 a rank, PyTorch 2.1-dev, facebookresearch/param, with shapes" \
  "$param"
make v100-4gpu-torchrec-2023 \
  "TorchRec DLRM, batch 4096 a rank, pytorch/torchrec, without shapes" \
  "$torchrec"
make v100-dlrm-hta \
  "DLRM with 485 tables and CUDA graphs, HolisticTraceAnalysis, with shapes" \
  "$hta"
make v100-resnet50-2021 \
  "ResNet-50, loader in the training process, pytorch/kineto of 2021" \
  "$resnet50"
make rtx2080ti-2023 \
  "21 linear layers, and ResNet-18, facebookresearch/param" \
  "$linear" "$resnet18"
make a100-ddp-2024 \
  "ResNet-50 with DDP, HolisticTraceAnalysis of 2024" \
  "$ddp"
make h100-bert \
  "BERT small, inference, TraceLens, with shapes" \
  "$h100"
make mi300-bert \
  "BERT small, inference, TraceLens, with shapes" \
  "$mi300"
make v100-lin-2021 \
  "DLRM_default, batch 2048, PyTorch of May 2021, by Lin et al.; raw, with the profiler" \
  authors/overheads_v100_2021-05-04_DLRM_default_2048.csv \
  authors/overheads_v100_2021-05-14_DLRM_default_2048.csv
make v100-lin-2022 \
  "Three DLRMs, Lin et al. HiPC 2022: figures, without the profiler; T2 of other ops as printed in 2022-02" \
  authors/s1_hipc_overheads_t1_DIGITIZED.csv \
  authors/s1_hipc_overheads_t2_t3_t5_DIGITIZED.csv \
  authors/overheads_v100_2022-02-14_all_workloads.csv
make shared \
  "Pooled over the recorded traces, each with the same weight" \
  "$param" "$torchrec" "$hta" "$resnet50" "$linear" "$resnet18" "$ddp" \
  "$h100" "$mi300"
