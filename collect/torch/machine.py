"""What the machine is: for manifests, and as a device file for stepcast."""
import os
import pathlib
import platform
import re

# NVIDIA's generations by compute capability.
_GENERATIONS = {6: "pascal", 7: "volta", 8: "ampere", 9: "hopper",
                10: "blackwell", 11: "blackwell", 12: "blackwell"}


def _read(path):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def cpu_title(info=None):
    """The processor's name, as /proc/cpuinfo has it."""
    text = _read("/proc/cpuinfo") if info is None else info
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or "cpu"


def cpu_clock_mhz(info=None):
    """The current clock of the first core; 0 if not known."""
    text = _read("/proc/cpuinfo") if info is None else info
    found = re.search(r"^cpu MHz\s*:\s*([\d.]+)$", text, re.MULTILINE)
    return float(found.group(1)) if found else 0.0


def parse_size(text):
    """"2048K" -> bytes."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text.strip())
    if not found:
        return 0
    return int(found.group(1)) << {"": 0, "K": 10, "M": 20,
                                   "G": 30}[found.group(2)]


def caches(root="/sys/devices/system/cpu/cpu0/cache"):
    """Bytes of each level of data cache, by level."""
    sizes = {}
    for index in sorted(pathlib.Path(root).glob("index*")):
        if _read(index / "type") in ("Data", "Unified"):
            level = int(_read(index / "level") or 0)
            sizes[level] = parse_size(_read(index / "size"))
    return sizes


def memory_bytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def slug(text):
    """A name for files: "Intel(R) Xeon(R) CPU" -> "intel-xeon-cpu"."""
    text = re.sub(r"\((r|tm|c)\)", " ", text.lower())
    text = re.sub(r"@.*|\bwith .*|\b(cpu|processor)\b", " ", text)
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-") or "device"


def default_name(torch, device):
    """What rows call the device."""
    if device.startswith("cuda"):
        return slug(torch.cuda.get_device_name(device))
    threads = torch.get_num_threads()
    return f"cpu-{slug(cpu_title())}-{threads}t"


def describe(torch, device):
    """Machine, versions, clocks: for a manifest."""
    facts = {
        "host": platform.node(), "system": platform.platform(),
        "python": platform.python_version(), "torch": torch.__version__,
        "cpu": cpu_title(), "cores": os.cpu_count(),
        "threads": torch.get_num_threads(), "clock_mhz": cpu_clock_mhz(),
        "memory_bytes": memory_bytes(),
        "cache_bytes": {str(k): v for k, v in caches().items()},
        "device": device,
        "governor": _read(
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    }
    if device.startswith("cuda"):
        properties = torch.cuda.get_device_properties(device)
        facts["gpu"] = {
            "name": properties.name, "cuda": torch.version.cuda,
            "hip": getattr(torch.version, "hip", None),
            "sms": properties.multi_processor_count,
            "memory_bytes": properties.total_memory,
            "capability": [properties.major, properties.minor]}
    return facts


def _figure(value, source):
    return f'{{ value = {value:.6g}, source = "{source}" }}'


def device_toml(name, facts, peaks):
    """A device file. `peaks` has "gflops" and "copy_gbs", both measured."""
    gpu = facts.get("gpu")
    if gpu:
        major, minor = gpu["capability"]
        generation = "cdna" if gpu["hip"] else _GENERATIONS.get(
            major, "blackwell")
        generation = {(7, 5): "turing", (8, 9): "ada"}.get(
            (major, minor), generation)
        count, memory = gpu["sms"], gpu["memory_bytes"]
        title = gpu["name"]
    else:
        generation, title = "cpu", facts["cpu"]
        count, memory = facts["threads"], facts["memory_bytes"]
    lines = [f"# {title}, as measured by collect/torch/bench.py.",
             f'name = "{name}"', f'title = "{title}"',
             f'generation = "{generation}"', f'chip = "{title}"', "",
             f"sm_count = {_figure(count, 'the system')}",
             f"fp32_tflops = {_figure(peaks['gflops'] / 1e3, 'measured')}",
             f"dram_gbs = {_figure(peaks['copy_gbs'], 'measured')}",
             f"dram_gb = {_figure(memory / 1e9, 'the system')}"]
    if not gpu:
        if facts["clock_mhz"] > 0:
            lines.append("max_clock_mhz = "
                         + _figure(facts["clock_mhz"], "/proc/cpuinfo"))
        last = max([int(k) for k in facts["cache_bytes"]], default=0)
        if last:
            size = facts["cache_bytes"][str(last)] / 1e6
            lines.append(f"l2_mb = {_figure(size, f'L{last}, the system')}")
    return "\n".join(lines) + "\n"
