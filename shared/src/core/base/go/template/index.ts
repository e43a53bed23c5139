// Go's text/template for the templates of ClusterSPIFFEIDs: see template.ts for what is supported and what is unknown.
export { Placeholder } from './placeholder.ts'
export {
  parseTemplate,
  type GoObject,
  type ParsedTemplate,
  type Rendered,
  type TemplateData,
} from './template.ts'
