// Package spireentry names the template data as the SPIRE Controller Manager does (pkg/spireentry/entries.go of
// v0.7.0), so that printed type names agree.
package spireentry

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type templateData struct {
	TrustDomain   string
	ClusterName   string
	ClusterDomain string
	PodMeta       *metav1.ObjectMeta
	PodSpec       *corev1.PodSpec
	NodeMeta      *metav1.ObjectMeta
	NodeSpec      *corev1.NodeSpec
}

// Input is the JSON form of the template data.
type Input struct {
	TrustDomain   string             `json:"trustDomain"`
	ClusterName   string             `json:"clusterName"`
	ClusterDomain string             `json:"clusterDomain"`
	PodMeta       *metav1.ObjectMeta `json:"podMeta"`
	PodSpec       *corev1.PodSpec    `json:"podSpec"`
	NodeMeta      *metav1.ObjectMeta `json:"nodeMeta"`
	NodeSpec      *corev1.NodeSpec   `json:"nodeSpec"`
}

// Data gives the value that templates are executed on.
func (in *Input) Data() any {
	return &templateData{in.TrustDomain, in.ClusterName, in.ClusterDomain, in.PodMeta, in.PodSpec, in.NodeMeta, in.NodeSpec}
}
