// The text of single Kineto events and of what stands around them, as each
// generation of PyTorch writes it.
#ifndef STEPCAST_TESTS_TESTING_KINETO_WRITER_H_
#define STEPCAST_TESTS_TESTING_KINETO_WRITER_H_

#include <cstdint>
#include <string>

#include "tests/testing/kineto_generator.h"
#include "tests/testing/training_job.h"

namespace stepcast::testing {

/// Appends to a string that the owner empties between calls.
class KinetoWriter {
 public:
  KinetoWriter(const KinetoOptions& options, std::string& out)
      : dialect_(options.dialect),
        shapes_(options.shapes),
        hip_(options.job.hip),
        out_(out) {}

  void Header();
  void Host(const JobHostEvent& event);
  void Call(const JobCall& call, const JobStep& step);
  void Activity(const JobActivity& activity, const JobStep& step);
  void FlowStart(const JobCall& call);
  void FlowEnd(const JobActivity& activity);
  void Memory(const JobHostEvent& event);
  void Metadata();
  void Footer();

  const KinetoFacts& facts() const { return facts_; }

 private:
  bool is_old() const { return dialect_ == KinetoDialect::k2021; }
  bool is_new() const { return dialect_ == KinetoDialect::k2024; }
  void Begin(std::string_view category, std::string_view name);
  void Where(int64_t process, int64_t thread, bool quoted);
  void When(int64_t start_ns, int64_t end_ns);
  std::string Time(int64_t time_ns) const;
  void HostArgs(const JobHostEvent& event);
  void KernelArgs(const JobActivity& activity, std::string_view gap);
  void CopyArgs(const JobActivity& activity, std::string_view gap);
  void Name(std::string_view name, int64_t process, int64_t thread,
            std::string_view label);

  KinetoDialect dialect_;
  bool shapes_;
  bool hip_;
  std::string& out_;
  KinetoFacts facts_;
};

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_KINETO_WRITER_H_
