import Testing

@testable import ManagedModel

@Suite struct ModelContentsTests {
  /// The optimized file's format isn't public; the plain file next to it has the same hashes.
  @Test("S-A14 the plain file of a compiled model is read even if there's an optimized one")
  func compiledModelIsReadFromItsPlainFile() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let compiled = folder.appendingPathComponent("Zoo.momd")
    try FileManager.default.createDirectory(at: compiled, withIntermediateDirectories: true)
    let new = try ModelDocument.read(data: Data(ModelDocumentTests.document.utf8), file: "Zoo")
    let old = try ModelDocument.read(
      data: Data("<model><entity name=\"Animal\"/></model>".utf8), file: "Zoo")
    for (name, model) in [("Zoo", old), ("Zoo 2", new)] {
      try Data(ModelArchive.bytes(of: model)).write(
        to: compiled.appendingPathComponent(name + ".mom"))
    }
    let info = ["NSManagedObjectModel_CurrentVersionName": "Zoo 2"]
    try PropertyListSerialization.data(fromPropertyList: info, format: .binary, options: 0)
      .write(to: compiled.appendingPathComponent("VersionInfo.plist"))
    let plain = try NSManagedObjectModel.read(contentsOf: compiled)
    try Data("optimized".utf8).write(to: compiled.appendingPathComponent("Zoo 2.omo"))
    let both = try NSManagedObjectModel.read(contentsOf: compiled)
    #expect(both.entityVersionHashesByName == plain.entityVersionHashesByName)
    #expect(both.outline == new.outline)
    #expect(try NSManagedObjectModel.versions(of: compiled) == ["Zoo", "Zoo 2"])
    #expect(
      try NSManagedObjectModel.read(contentsOf: compiled, version: "Zoo").outline == old.outline)
    try FileManager.default.removeItem(at: compiled.appendingPathComponent("Zoo 2.mom"))
    #expect(throws: ModelErrors.self) { try NSManagedObjectModel.read(contentsOf: compiled) }
  }

  /// The current version must be specified only if there are several.
  @Test func onlyASingleVersionIsCurrentWithoutAList() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("\(UUID().uuidString).xcdatamodeld")
    defer { try? FileManager.default.removeItem(at: folder) }
    for name in ["Zoo", "Zoo 2"] {
      let version = folder.appendingPathComponent("\(name).xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try Data("<model><entity name=\"Animal\"/></model>".utf8)
        .write(to: version.appendingPathComponent("contents"))
      try Data(#"<?xml version="1.0"?><plist version="1.0"><dict/></plist>"#.utf8)
        .write(to: folder.appendingPathComponent(".xccurrentversion"))
      if name == "Zoo" {
        #expect(try NSManagedObjectModel.currentVersion(of: folder) == "Zoo")
        #expect(try NSManagedObjectModel.read(contentsOf: folder).entities.count == 1)
      } else {
        #expect(throws: ModelErrors.self) { try NSManagedObjectModel.read(contentsOf: folder) }
      }
    }
  }

  @Test func unsupportedFormsAreErrorsWithANextStep() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let old = folder.appendingPathComponent("Old.xcdatamodel")
    try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let list = Data(#"<?xml version="1.0"?><plist version="1.0"><dict/></plist>"#.utf8)
    for (name, message) in [
      ("Zoo.omo", "Optimized models (.omo) can't be read because their format isn't public."),
      (
        "Zoo.mom",
        "The compiled model is an XML property list; only binary property lists can be read."
      ),
      ("Old.xcdatamodel/elements", "The root element is \"plist\", not a model."),
      ("Old.xcdatamodel", "The model is in the format that Xcode used before version 4"),
    ] {
      let url = folder.appendingPathComponent(name)
      if name != "Old.xcdatamodel" { try list.write(to: url) }
      let errors = #expect(throws: ModelErrors.self) {
        try NSManagedObjectModel.read(contentsOf: url)
      }
      #expect(errors?.errors.first?.message.hasPrefix(message) == true, "\(name)")
      #expect(errors?.errors.first?.nextStep != nil)
    }
  }

  @Test func everyFormOfAModelIsRead() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let document = folder.appendingPathComponent("Zoo.xcdatamodeld/Zoo.xcdatamodel")
    let compiled = folder.appendingPathComponent("Zoo.momd")
    for made in [document, compiled] {
      try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
    }
    try Data(ModelDocumentTests.document.utf8).write(
      to: document.appendingPathComponent("contents"))
    let model = try NSManagedObjectModel.read(contentsOf: document)
    for name in ["Zoo 2.mom", "Zoo.mom"] {
      try Data(ModelArchive.bytes(of: model)).write(to: compiled.appendingPathComponent(name))
    }
    #expect(NSManagedObjectModel(contentsOf: compiled) == nil)
    let info = ["NSManagedObjectModel_CurrentVersionName": "Zoo 2"]
    try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
      .write(to: compiled.appendingPathComponent("VersionInfo.plist"))
    let urls = [
      document, document.deletingLastPathComponent(), compiled,
      compiled.appendingPathComponent("Zoo.mom"),
    ]
    for url in urls {
      let read = try #require(NSManagedObjectModel(contentsOf: url), "\(url.lastPathComponent)")
      #expect(read.outline == model.outline)
      #expect(read.entities.allSatisfy { $0.managedObjectModel === read })
    }
    try Data("bplist00".utf8).write(to: compiled.appendingPathComponent("Zoo.mom"))
    let errors = #expect(throws: ModelErrors.self) {
      try NSManagedObjectModel.read(contentsOf: compiled.appendingPathComponent("Zoo.mom"))
    }
    #expect(errors?.errors.first?.file?.hasSuffix("Zoo.mom") == true)
  }
}
