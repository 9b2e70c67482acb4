import OpenCoreData

/// The shape of a fetched property in a model's JSON.
struct FetchedPropertyJSON: Encodable {
  let name: String
  let request: ModelDocumentJSON.Request?
  let userInfo: [String: String]

  init(_ property: NSFetchedPropertyDescription) {
    name = property.name
    request = property.template.map(ModelDocumentJSON.Request.init)
    userInfo = EntityJSON.texts(property.userInfo)
  }
}
