// Calls the API of a core with client-go, and prints the result of each step as JSON.
//
// Standard input is JSON: url and rootToken. Each file registers the steps of an area. The result of a step that fails is
// {"raised": ...}.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

type fields = map[string]any

type settings struct {
	URL       string `json:"url"`
	RootToken string `json:"rootToken"`
}

// core is the API that the steps call.
type core struct {
	settings
	// root is the client of the administrator.
	root *gitlab.Client
}

type step struct {
	name string
	work func(core) (any, error)
}

var steps []step

func register(name string, work func(core) (any, error)) {
	steps = append(steps, step{name, work})
}

// as returns a client with a token, which may be unknown.
func (served core) as(token string) (*gitlab.Client, error) {
	return gitlab.NewClient(token, gitlab.WithBaseURL(served.URL), gitlab.WithoutRetries())
}

// refusal returns the status and the text of the error that the client returned.
func refusal(err error) any {
	var response *gitlab.ErrorResponse
	switch {
	case err == nil:
		return "no error"
	case errors.Is(err, gitlab.ErrNotFound):
		return []any{404}
	case errors.As(err, &response):
		return []any{response.Response.StatusCode, strings.Trim(response.Message, "{}")}
	default:
		return err.Error()
	}
}

func resultOf(each step, served core) (result any) {
	defer func() {
		if reason := recover(); reason != nil {
			result = fields{"raised": fmt.Sprint(reason)}
		}
	}()
	result, err := each.work(served)
	if err != nil {
		return fields{"raised": err.Error()}
	}
	return result
}

func main() {
	var served core
	if err := json.NewDecoder(os.Stdin).Decode(&served.settings); err != nil {
		fail(err)
	}
	root, err := served.as(served.RootToken)
	if err != nil {
		fail(err)
	}
	served.root = root
	results := fields{}
	for _, each := range steps {
		results[each.name] = resultOf(each, served)
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
