package main

import (
	"encoding/json"
	"net/http"
	"reflect"
	"sort"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

// A webhook as client-go and the library of Standard Webhooks see it.
type parsed struct {
	// The type of client-go.
	Type string `json:"type"`
	// The members that the type has and the payload lacks, and those that the type does not have.
	Lacking []string `json:"lacking"`
	Unknown []string `json:"unknown"`
	// Why the signature is refused; empty if it is valid.
	Refusal string `json:"refusal"`
}

// The arguments are the headers, the body and the signing token. The body may be of a kind that client-go does not know.
func parseWebhook(_ string, wanted order) outcome {
	var given map[string]string
	var body, token string
	for index, into := range []any{&given, &body, &token} {
		if err := json.Unmarshal(wanted.Arguments[index], into); err != nil {
			return outcome{Error: err.Error()}
		}
	}
	headers := http.Header{}
	for name, value := range given {
		headers.Set(name, value)
	}
	var result parsed
	verifier, err := standardwebhooks.NewWebhook(token)
	if err == nil {
		err = verifier.Verify([]byte(body), headers)
	}
	if err != nil {
		result.Refusal = err.Error()
	}
	event, err := gitlab.ParseWebhook(gitlab.WebhookEventType(&http.Request{Header: headers}), []byte(body))
	if err != nil {
		return outcome{Result: result, Error: err.Error()}
	}
	var payload any
	if err := json.Unmarshal([]byte(body), &payload); err != nil {
		return outcome{Error: err.Error()}
	}
	kind := reflect.TypeOf(event).Elem()
	result.Type = kind.Name()
	result.compare(kind, payload, "")
	result.Lacking, result.Unknown = distinct(result.Lacking), distinct(result.Unknown)
	return outcome{Result: result}
}

var timeType = reflect.TypeFor[time.Time]()

// Compares the members of a type with those of a JSON value, down to values that are null or empty.
func (result *parsed) compare(kind reflect.Type, value any, path string) {
	for kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch given := value.(type) {
	case []any:
		if kind.Kind() == reflect.Slice {
			for _, each := range given {
				result.compare(kind.Elem(), each, path+"[]")
			}
		}
	case map[string]any:
		if kind.Kind() != reflect.Struct || kind == timeType {
			return
		}
		known := members(kind)
		for name, member := range known {
			if each, exists := given[name]; exists {
				result.compare(member, each, path+"."+name)
			} else {
				result.Lacking = append(result.Lacking, path+"."+name)
			}
		}
		for name := range given {
			if _, exists := known[name]; !exists {
				result.Unknown = append(result.Unknown, path+"."+name)
			}
		}
	}
}

func members(kind reflect.Type) map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for index := range kind.NumField() {
		field := kind.Field(index)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			inner := field.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			for name, member := range members(inner) {
				all[name] = member
			}
		case name != "" && name != "-":
			all[name] = field.Type
		}
	}
	return all
}

func distinct(paths []string) []string {
	sort.Strings(paths)
	result := []string{}
	for index, path := range paths {
		if index == 0 || path != paths[index-1] {
			result = append(result, path)
		}
	}
	return result
}
