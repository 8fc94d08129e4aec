import HTTPTypes

extension HTTPRequest {
    /// The value of a field of the head; several fields of one name are one, as the protocol joins them. The same as the subscript of
    /// `headerFields`, by one look at each of the few fields that a request has: an edit asks for some fifteen, most of which no
    /// client sends.
    func field(_ name: HTTPField.Name) -> String? {
        var value: String?
        for field in headerFields where field.name == name {
            value = value.map { "\($0), \(field.value)" } ?? field.value
        }
        return value
    }
}
