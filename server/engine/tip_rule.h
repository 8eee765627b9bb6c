// What a tip is given for: a rule of data, one that comes with profd or one of the user's.
#pragma once

#include <cstdint>
#include <string>

namespace profd {

// Of which metrics a rule speaks.
enum class TipMetric : std::uint8_t {
  time,   // time of a processor, or samples of something like it
  wall,   // time that passed, waiting included
  bytes,  // memory
  any
};

// What a rule looks at.
enum class TipEvidence : std::uint8_t {
  work,          // the share of the own work of a set
  self,          // the share that frames of a set have themselves
  few_samples,   // how many samples there are
  nameless,      // the share of code without names
  cut_stacks,    // the share of samples whose stacks were cut as they were recorded
  lost_samples,  // the share of samples that were lost as they were recorded
  cpi,           // cycles an instruction of the hottest functions
  switches,      // context switches a second
  imbalance,     // how much more than the mean the busiest of several threads of one name does
  one_thread,    // the share of the busiest thread where others could have helped
  lock_step,     // the share of samples that repeat those of a fixed number before
  gc_pauses,     // the share of the recording in which a collector had stopped the program
  slow_reads,    // the longest read, in seconds
  runnable,      // of the time that threads could go on, the share in which they waited for a processor
  false_sharing  // how often two threads were seen at one line of the cache
};

struct TipRule {
  std::string id, title;
  TipEvidence evidence = TipEvidence::work;
  std::string set;  // of work and self
  TipMetric metric = TipMetric::time;
  double at_least = 0.1;  // a share, or what the evidence counts
  std::string subject;    // what the sentence begins with: "Allocating and freeing memory"
  std::string advice;     // a sentence; "" none
  std::string link;       // a URL; "" the page of tips
  bool own = false;       // the user's
};

}  // namespace profd
