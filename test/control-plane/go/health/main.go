// Says how healthy Argo CD and Flux find some objects, with what they use themselves: Argo CD's Lua machine with the
// libraries that it opens (util/lua of argo-cd v3), Flux's evaluator of health expressions, and kstatus, which decides
// for Flux where there are no expressions.
//
// stdin: {"lua": "...", "flux": {"current": "...", "failed": "...", "inProgress": "..."}, "objects": [...]}
// stdout: [{"argo": {"status": "...", "message": "..."}, "flux": "...", "kstatus": "..."}], one for each object.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type question struct {
	Lua     string                            `json:"lua"`
	Flux    *kustomize.HealthCheckExpressions `json:"flux"`
	Objects []*unstructured.Unstructured      `json:"objects"`
}

type argoHealth struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

type answer struct {
	Argo    argoHealth    `json:"argo"`
	Flux    status.Status `json:"flux"`
	Kstatus status.Status `json:"kstatus"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var asked question
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	evaluator, err := cel.NewStatusEvaluator(asked.Flux)
	if err != nil {
		return err
	}
	answers := []answer{}
	for _, object := range asked.Objects {
		argo, err := healthOf(object, asked.Lua)
		if err != nil {
			return fmt.Errorf("Lua: %w", err)
		}
		without, err := status.Compute(object)
		if err != nil {
			return fmt.Errorf("kstatus: %w", err)
		}
		answers = append(answers, answer{
			Argo:    argo,
			Flux:    fluxStatus(evaluator, object),
			Kstatus: without.Status,
		})
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}

// An expression that cannot be evaluated is no failure to Flux: it goes on asking, until its time-out (cli-utils,
// kstatus/polling/statusreaders).
func fluxStatus(evaluator *cel.StatusEvaluator, object *unstructured.Unstructured) status.Status {
	result, err := evaluator.Evaluate(context.Background(), object)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return status.UnknownStatus
	}
	return result.Status
}

// Argo CD opens no library but these three and an `os` that only tells the time.
func healthOf(object *unstructured.Unstructured, script string) (argoHealth, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage,
		lua.BaseLibName: lua.OpenBase,
		lua.TabLibName:  lua.OpenTable,
	} {
		call := lua.P{Fn: state.NewFunction(open), NRet: 0, Protect: true}
		if err := state.CallByParam(call, lua.LString(name)); err != nil {
			return argoHealth{}, err
		}
	}
	state.SetGlobal("obj", luaValue(state, object.Object))
	if err := state.DoString(script); err != nil {
		return argoHealth{}, err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return argoHealth{}, fmt.Errorf("the script returned %s, not a table", state.Get(-1).Type())
	}
	return argoHealth{
		Status:  lua.LVAsString(table.RawGetString("status")),
		Message: lua.LVAsString(table.RawGetString("message")),
	}, nil
}

// JSON as Argo CD hands it to Lua: null is nil, and every number is a Lua number.
func luaValue(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case bool:
		return lua.LBool(value)
	case string:
		return lua.LString(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	case []any:
		list := state.CreateTable(len(value), 0)
		for _, item := range value {
			list.Append(luaValue(state, item))
		}
		return list
	case map[string]any:
		table := state.CreateTable(0, len(value))
		for key, item := range value {
			table.RawSetString(key, luaValue(state, item))
		}
		return table
	}
	return lua.LNil
}
