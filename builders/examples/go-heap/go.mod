module example

go 1.19

require profd.dev/builder v0.0.0

replace profd.dev/builder => ../../go
