import Foundation
import OpenCoreData
import Testing

// Foundation on Linux also has types with these names. Importing a declaration selects it for this
// file; without the import, the name is ambiguous.
import class ManagedModel.NSComparisonPredicate
import class ManagedModel.NSCompoundPredicate
import class ManagedModel.NSExpression
import class ManagedModel.NSPredicate
import class ManagedModel.NSSortDescriptor

/// A file that imports Foundation can use OpenCoreData's types.
@Suite struct ImportedNamesTests {
  @Test func importsOfOneDeclarationResolveTheNames() throws {
    let predicate: NSPredicate = NSPredicate(format: "age > 3 AND name == %@", "Ann")
    let compound = try #require(predicate as? NSCompoundPredicate)
    let comparison = try #require(compound.subpredicates.first as? NSComparisonPredicate)
    let expression: NSExpression = comparison.leftExpression
    #expect(expression.keyPath == "age")
    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
    #expect(request.sortDescriptors?.first?.key == "age")
    #expect(predicate.evaluate(with: ["age": 4, "name": "Ann"]))
  }
}
