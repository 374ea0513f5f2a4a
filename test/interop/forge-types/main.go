// Reads bodies of forges, one a line, and answers each with the members that the types of a published client for Go lack, and with the
// error of decoding it into them.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/bndr/gojenkins"
	"github.com/buildkite/go-buildkite/v4"
	"github.com/drone/drone-go/drone"
	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/build"
)

// The types by the names that the tests use for them.
var types = map[string]reflect.Type{
	"azure build":     reflect.TypeFor[build.Build](),
	"azure timeline":  reflect.TypeFor[build.Timeline](),
	"buildkite build": reflect.TypeFor[buildkite.Build](),
	"drone build":     reflect.TypeFor[drone.Build](),
	"drone repo":      reflect.TypeFor[drone.Repo](),
	"jenkins build":   reflect.TypeFor[gojenkins.BuildResponse](),
	"jenkins stages":  reflect.TypeFor[gojenkins.PipelineRun](),
}

type question struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

type answer struct {
	Unknown []string `json:"unknown"`
	Error   string   `json:"error"`
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		encoded, err := json.Marshal(examine(lines.Bytes()))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(encoded))
	}
}

func examine(line []byte) answer {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	into, known := types[asked.Type]
	if !known {
		return answer{Error: "no type " + asked.Type}
	}
	if err := json.Unmarshal(asked.Value, reflect.New(into).Interface()); err != nil {
		return answer{Error: err.Error()}
	}
	var value any
	if err := json.Unmarshal(asked.Value, &value); err != nil {
		return answer{Error: err.Error()}
	}
	unknown := map[string]bool{}
	collect(value, into, "", unknown)
	paths := make([]string, 0, len(unknown))
	for path := range unknown {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	return answer{Unknown: paths}
}

// Collects the paths of members that have no field in a type. Types that decode themselves, and `any`, have all members.
func collect(value any, into reflect.Type, path string, unknown map[string]bool) {
	for into.Kind() == reflect.Pointer {
		into = into.Elem()
	}
	switch given := value.(type) {
	case []any:
		if into.Kind() != reflect.Slice {
			return
		}
		for _, item := range given {
			collect(item, into.Elem(), path+"[]", unknown)
		}
	case map[string]any:
		if into.Kind() != reflect.Struct || reflect.PointerTo(into).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return
		}
		for name, member := range given {
			inner := strings.TrimPrefix(path+"."+name, ".")
			field, found := fieldOf(into, name)
			if !found {
				unknown[inner] = true
				continue
			}
			collect(member, field.Type, inner, unknown)
		}
	}
}

// Returns the field that a member is decoded into: names are compared without case, as the decoder does.
func fieldOf(owner reflect.Type, name string) (reflect.StructField, bool) {
	for _, field := range reflect.VisibleFields(owner) {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if tag == "" {
			tag = field.Name
		}
		if field.IsExported() && strings.EqualFold(tag, name) {
			return field, true
		}
	}
	return reflect.StructField{}, false
}
