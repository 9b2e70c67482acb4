package import OpenCoreData
import WorkbenchText

/// The format of a model as a graph in the DOT language of Graphviz.
package enum ModelGraph {
  /// Returns the lines of the graph.
  ///
  /// The graph has a node for each entity with its attributes, an edge for each relationship and
  /// its inverse with their cardinalities, and an edge with a hollow arrowhead from each subentity
  /// to its parent.
  package static func lines(_ model: NSManagedObjectModel) -> [String] {
    let entities = model.entityTree.map(\.entity)
    return [
      "digraph model {",
      "  graph [rankdir=LR];",
      "  node [shape=record, fontname=\"Helvetica\"];",
      "  edge [fontname=\"Helvetica\", fontsize=10];",
    ]
      + entities.map(node)
      + entities.compactMap { entity in
        entity.superentity.map {
          "  \(quoted(entity.name)) -> \(quoted($0.name)) [arrowhead=empty];"
        }
      }
      + entities.flatMap(\.ownRelationships).compactMap(edge) + ["}"]
  }

  private static func node(_ entity: NSEntityDescription) -> String {
    let attributes = entity.ownAttributes.map { attribute in
      escaped("\(attribute.name): \(attribute.attributeType.documentName)")
        + (attribute.isOptional ? "?" : "") + "\\l"
    }
    let name = escaped(entity.name ?? "") + (entity.isAbstract ? " (abstract)" : "")
    return "  \(quoted(entity.name)) [label=\"{\(name)|\(attributes.joined())}\"];"
  }

  /// Returns the edge of a relationship, or `nil` if its inverse, which comes first by entity and
  /// name, has the edge.
  private static func edge(_ relationship: NSRelationshipDescription) -> String? {
    guard let source = relationship.entity, let destination = relationship.destinationEntity else {
      return nil
    }
    let head = count(relationship)
    guard let inverse = relationship.inverseRelationship else {
      return "  \(quoted(source.name)) -> \(quoted(destination.name)) "
        + "[label=\"\(escaped(relationship.name))\", headlabel=\"\(head)\"];"
    }
    guard "\(relationship)" <= "\(inverse)" else { return nil }
    let label =
      inverse === relationship ? relationship.name : "\(relationship.name) / \(inverse.name)"
    return "  \(quoted(source.name)) -> \(quoted(destination.name)) [dir=both, "
      + "label=\"\(escaped(label))\", headlabel=\"\(head)\", taillabel=\"\(count(inverse))\"];"
  }

  private static func count(_ relationship: NSRelationshipDescription) -> String {
    let least = max(relationship.minCount, relationship.isOptional ? 0 : 1)
    guard relationship.isToMany else { return least == 0 ? "0..1" : "1" }
    let most = relationship.maxCount == 0 ? "*" : "\(relationship.maxCount)"
    return least == 0 && most == "*" ? "*" : "\(least)..\(most)"
  }

  private static func quoted(_ name: String?) -> String { "\"\(escaped(name ?? ""))\"" }

  /// Returns a string escaped for use in quotes and in a record's label.
  private static func escaped(_ text: String) -> String {
    text.replacingScalars([
      "\\": "\\\\", "\"": "\\\"", "{": "\\{", "}": "\\}", "|": "\\|", "<": "\\<", ">": "\\>",
      "\n": " ",
    ])
  }
}
