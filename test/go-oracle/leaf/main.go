package main

import (
	"fmt"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/spire/pkg/common/idutil"
	"github.com/spiffe/spire/pkg/common/x509util"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

func main() {
	fmt.Println(x509util.ValidateLabel("a"), idutil.IsReservedPath("/spire"), labels.Set{}, validation.IsDNS1123Label("a"), metav1.LabelSelector{})
	fmt.Println(spiffeid.FromString("spiffe://a/b"))
}
