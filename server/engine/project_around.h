// Which project a folder belongs to.
#pragma once

#include <string>

namespace profd {

// The nearest folder with `.profd.toml` or `.git`, from this absolute one upwards, else this one; "" where that
// would be all of a disk or of somebody's home. Looks at the disk.
std::string project_around(const std::string& folder);

}  // namespace profd
