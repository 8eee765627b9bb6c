module profd.dev/builder/cmd/profd-go-trace

go 1.26.0

require (
	golang.org/x/exp v0.0.0-20261113113407-e3970619a1a4
	profd.dev/builder v0.0.0
)

replace profd.dev/builder => ../..
