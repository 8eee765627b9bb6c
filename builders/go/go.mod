module profd.dev/builder

go 1.19
