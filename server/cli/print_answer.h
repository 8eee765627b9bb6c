// An answer as JSON on standard output: the result that the daemon's request of the same name has.
#pragma once

#include <string>
#include <utility>

#include "protocol/generated/psp_messages.h"
#include "server/cli/console.h"
#include "server/cli/file_error.h"
#include "server/cli/report_text.h"
#include "server/dialect/psp/convert_views.h"

namespace profd {

// Prints the result of request R, or says why there is none; gives the exit code.
template <class R, class Answer>
int print_answer(Result<Answer> answer, const std::string& file, const Console& console) {
  if (!answer) return console.fail(file_error_text(file, answer.error()));
  return console.print(R::result_text(to_psp(std::move(*answer))) + "\n");
}

}  // namespace profd
