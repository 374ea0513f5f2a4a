// Calls every method of every service of client-go against a server that only records, with every option set, and prints
// the requests as JSON: method, path (with ":" for arguments) and the names of the parameters.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"
)

const (
	textArgument   = "zzargument"
	numberArgument = 777001
)

type request struct {
	Method     string   `json:"method"`
	Path       string   `json:"path"`
	Parameters []string `json:"parameters"`
}

type recorder struct{ last *request }

func (recorder *recorder) ServeHTTP(writer http.ResponseWriter, incoming *http.Request) {
	names := map[string]bool{}
	for name := range incoming.URL.Query() {
		addName(names, name)
	}
	addBodyNames(names, incoming)
	parameters := make([]string, 0, len(names))
	for name := range names {
		parameters = append(parameters, name)
	}
	sort.Strings(parameters)
	recorder.last = &request{incoming.Method, pathTemplate(incoming.URL.EscapedPath()), parameters}
	writer.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(writer, "{}")
}

func addName(names map[string]bool, name string) {
	names[strings.TrimSuffix(name, "[]")] = true
}

func addBodyNames(names map[string]bool, incoming *http.Request) {
	contentType := incoming.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(contentType, "multipart/form-data"):
		if incoming.ParseMultipartForm(1<<20) != nil {
			return
		}
		for name := range incoming.MultipartForm.Value {
			addName(names, name)
		}
		for name := range incoming.MultipartForm.File {
			addName(names, name)
		}
	case strings.HasPrefix(contentType, "application/json"):
		var body map[string]any
		if json.NewDecoder(incoming.Body).Decode(&body) == nil {
			addMembers(names, "", body)
		}
	}
}

func addMembers(names map[string]bool, prefix string, members map[string]any) {
	for name, value := range members {
		full := name
		if prefix != "" {
			full = prefix + "[" + name + "]"
		}
		addValue(names, full, value)
	}
}

func addValue(names map[string]bool, name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		addMembers(names, name, value)
	case []any:
		if len(value) > 0 {
			if members, isObject := value[0].(map[string]any); isObject {
				addMembers(names, name+"[]", members)
				return
			}
		}
		names[name] = true
	default:
		names[name] = true
	}
}

func pathTemplate(path string) string {
	segments := strings.Split(strings.TrimPrefix(path, "/api/v4"), "/")
	for index, segment := range segments {
		for _, argument := range []string{textArgument, fmt.Sprint(numberArgument)} {
			segment = strings.ReplaceAll(segment, argument, ":")
		}
		segments[index] = segment
	}
	return strings.Join(segments, "/")
}

var (
	readerType  = reflect.TypeFor[io.Reader]()
	contextType = reflect.TypeFor[context.Context]()
	timeType    = reflect.TypeFor[time.Time]()
	optionType  = reflect.TypeFor[gitlab.RequestOptionFunc]()
	// The values of types that have an order, or members that are not exported.
	known = map[reflect.Type]reflect.Value{
		reflect.TypeFor[gitlab.AssigneeIDValue]():        reflect.ValueOf(*gitlab.AssigneeID(numberArgument)),
		reflect.TypeFor[gitlab.ApproverIDsValue]():       reflect.ValueOf(*gitlab.ApproverIDs([]int64{numberArgument})),
		reflect.TypeFor[gitlab.ReviewerIDValue]():        reflect.ValueOf(*gitlab.ReviewerID(numberArgument)),
		reflect.TypeFor[gitlab.NotificationLevelValue](): reflect.ValueOf(gitlab.GlobalNotificationLevel),
	}
)

// Returns a value of a type in which everything is set, so that omitempty omits nothing.
func filled(kind reflect.Type, depth int) reflect.Value {
	if depth > 8 {
		return reflect.Zero(kind)
	}
	if value, isKnown := known[kind]; isKnown {
		return value
	}
	switch {
	case kind == readerType:
		return reflect.ValueOf(strings.NewReader("content"))
	case kind == contextType:
		return reflect.ValueOf(context.Background())
	case timeType.ConvertibleTo(kind) && kind.Kind() == reflect.Struct:
		return reflect.ValueOf(time.Now()).Convert(kind)
	}
	value := reflect.New(kind).Elem()
	switch kind.Kind() {
	case reflect.String:
		value.SetString(textArgument)
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		value.SetInt(numberArgument)
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		value.SetUint(1)
	case reflect.Float64, reflect.Float32:
		value.SetFloat(1.5)
	case reflect.Interface:
		if kind.NumMethod() == 0 {
			value.Set(reflect.ValueOf(textArgument))
		}
	case reflect.Pointer:
		value.Set(reflect.New(kind.Elem()))
		value.Elem().Set(filled(kind.Elem(), depth+1))
	case reflect.Slice:
		value.Set(reflect.Append(value, filled(kind.Elem(), depth+1)))
	case reflect.Map:
		value.Set(reflect.MakeMap(kind))
		key := reflect.New(kind.Key()).Elem()
		if key.Kind() == reflect.String {
			key.SetString("*")
		} else {
			key.Set(filled(kind.Key(), depth+1))
		}
		value.SetMapIndex(key, filled(kind.Elem(), depth+1))
	case reflect.Struct:
		for index := range kind.NumField() {
			if kind.Field(index).IsExported() {
				value.Field(index).Set(filled(kind.Field(index).Type, depth+1))
			}
		}
	}
	return value
}

// Calls one method, and returns the error of the client if it sent nothing.
func call(method reflect.Value) (failure error) {
	defer func() {
		if problem := recover(); problem != nil {
			failure = fmt.Errorf("%v", problem)
		}
	}()
	kind := method.Type()
	var arguments []reflect.Value
	for index := range kind.NumIn() {
		if kind.In(index) == reflect.SliceOf(optionType) {
			break
		}
		arguments = append(arguments, filled(kind.In(index), 0))
	}
	for _, result := range method.Call(arguments) {
		if problem, isError := result.Interface().(error); isError {
			failure = problem
		}
	}
	return failure
}

func main() {
	recorder := &recorder{}
	server := httptest.NewServer(recorder)
	defer server.Close()
	client, err := gitlab.NewClient("token", gitlab.WithBaseURL(server.URL), gitlab.WithoutRetries())
	if err != nil {
		panic(err)
	}
	requests := []request{}
	services := reflect.ValueOf(client).Elem()
	for index := range services.NumField() {
		field := services.Type().Field(index)
		if !field.IsExported() || field.Type.Kind() != reflect.Interface || services.Field(index).IsNil() {
			continue
		}
		service := services.Field(index)
		for number := range field.Type.NumMethod() {
			recorder.last = nil
			failure := call(service.Method(number))
			if recorder.last != nil {
				requests = append(requests, *recorder.last)
			} else {
				fmt.Fprintf(os.Stderr, "client-go: %s.%s sent nothing: %v\n", field.Name, field.Type.Method(number).Name, failure)
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(requests); err != nil {
		panic(err)
	}
}
