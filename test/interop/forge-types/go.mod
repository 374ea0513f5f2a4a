module penstock.invalid/forge-types

go 1.26.0

require (
	github.com/bndr/gojenkins v1.1.0
	github.com/buildkite/go-buildkite/v4 v4.23.0
	github.com/drone/drone-go v1.7.1
	github.com/microsoft/azure-devops-go-api/azuredevops/v7 v7.1.1-0.20241014080628-3045bdf43455
)

require (
	github.com/cenkalti/backoff v1.1.1-0.20171020064038-309aa717adbf // indirect
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
	golang.org/x/net v0.38.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
