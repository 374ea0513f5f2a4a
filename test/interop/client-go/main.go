// Command client calls methods of client-go for the contract tests. Its argument is the URL of the API. Each line of its input
// names a method with its arguments as JSON, and is answered by a line with the result; see go-client.ts.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

type order struct {
	Token string `json:"token"`
	// Service and method: `AccessRequests.RequestGroupAccess`.
	Method    string            `json:"method"`
	Arguments []json.RawMessage `json:"arguments"`
}

type outcome struct {
	Result any    `json:"result"`
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
}

var (
	optionType = reflect.TypeFor[gitlab.RequestOptionFunc]()
	readerType = reflect.TypeFor[io.Reader]()
	anyType    = reflect.TypeFor[any]()
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var wanted order
		if err := json.Unmarshal(lines.Bytes(), &wanted); err != nil {
			panic(err)
		}
		do := perform
		if wanted.Method == "ParseWebhook" {
			do = parseWebhook
		}
		if err := answers.Encode(do(os.Args[1], wanted)); err != nil {
			panic(err)
		}
	}
}

func perform(url string, wanted order) outcome {
	client, err := gitlab.NewClient(wanted.Token, gitlab.WithBaseURL(url), gitlab.WithCustomRetryMax(0))
	if err != nil {
		return outcome{Error: err.Error()}
	}
	service, name, _ := strings.Cut(wanted.Method, ".")
	field := reflect.ValueOf(client).Elem().FieldByName(service)
	if !field.IsValid() {
		return outcome{Error: "client-go has no service " + service}
	}
	method := field.MethodByName(name)
	if !method.IsValid() {
		return outcome{Error: "client-go has no method " + wanted.Method}
	}
	arguments, err := argumentsFor(method.Type(), wanted.Arguments)
	if err != nil {
		return outcome{Error: err.Error()}
	}
	return outcomeOf(method.Call(arguments))
}

func argumentsFor(method reflect.Type, given []json.RawMessage) ([]reflect.Value, error) {
	var arguments []reflect.Value
	for index := range method.NumIn() {
		kind := method.In(index)
		if kind == reflect.SliceOf(optionType) {
			break
		}
		if index >= len(given) {
			arguments = append(arguments, reflect.Zero(kind))
			continue
		}
		value, err := argument(kind, given[index])
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", index, err)
		}
		arguments = append(arguments, value)
	}
	return arguments, nil
}

func argument(kind reflect.Type, given json.RawMessage) (reflect.Value, error) {
	value := reflect.New(kind)
	if kind == readerType {
		var text string
		err := json.Unmarshal(given, &text)
		return reflect.ValueOf(strings.NewReader(text)), err
	}
	if err := json.Unmarshal(given, value.Interface()); err != nil {
		return value, err
	}
	// The id of a group or project: client-go accepts integers and texts.
	if number, isNumber := value.Elem().Interface().(float64); kind == anyType && isNumber && number == math.Trunc(number) {
		return reflect.ValueOf(int64(number)), nil
	}
	return value.Elem(), nil
}

// Returns the result, the response and the error that a method returned.
func outcomeOf(results []reflect.Value) (all outcome) {
	for _, each := range results {
		switch value := each.Interface().(type) {
		case nil:
		case *gitlab.Response:
			if value != nil && value.Response != nil {
				all.Status = value.StatusCode
			}
		case error:
			all.Error = value.Error()
			var refusal *gitlab.ErrorResponse
			if errors.As(value, &refusal) && refusal.Message != "" {
				all.Error = refusal.Message
			}
		case []byte:
			all.Result = string(value)
		case io.Reader:
			content, err := io.ReadAll(value)
			if err != nil {
				all.Error = err.Error()
			}
			all.Result = string(content)
		default:
			all.Result = value
		}
	}
	return all
}
