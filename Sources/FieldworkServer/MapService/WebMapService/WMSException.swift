import FieldworkREST

/// What a client of the Web Map Service is told when a request can't be answered.
struct WMSException: Error, Sendable, Hashable {
    /// One of the standard's words, or nil.
    var code: String?
    var message: String
    /// What the server counts it as.
    private var status = 400

    init(code: String? = nil, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    init(_ error: ServiceError) {
        status = error.code
        message = ([error.message] + error.details).joined(separator: " ")
        switch error.code {
        case 498: code = "InvalidToken"
        case 499: code = "TokenRequired"
        case 403: code = "Forbidden"
        case 404: code = "NotFound"
        default: code = nil
        }
    }

    static func missing(_ parameter: String) -> WMSException {
        WMSException(code: "MissingParameterValue", "'\(parameter)' is missing.")
    }

    /// Exceptions come with status 200, as the standard's clients expect.
    func answer(to parameters: RequestParameters) -> Answer {
        let version = WMSVersion(of: parameters)
        var xml = HTMLWriter()
        xml.markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ServiceExceptionReport version=\"")
        xml.text(version.rawValue)
        xml.markup("\"")
        if version == .v130 { xml.markup(" xmlns=\"http://www.opengis.net/ogc\"") }
        xml.markup("><ServiceException")
        if let code { xml.element(" code=\"", code, "\"") }
        xml.markup(">")
        xml.plainText(message)
        xml.markup("</ServiceException></ServiceExceptionReport>\n")
        var answer = Answer(contentType: version.exceptionType, body: .bytes(xml.bytes))
        answer.errorCode = status
        return answer
    }
}

extension HTMLWriter {
    /// A value as the text of an element of XML, which has no place for most control characters.
    mutating func plainText(_ value: String) {
        let kept = value.unicodeScalars.filter { scalar in
            scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                || "\t\n\r".unicodeScalars.contains(scalar)
        }
        var text = ""
        text.unicodeScalars.append(contentsOf: kept)
        self.text(text)
    }

    mutating func plainElement(_ open: StaticString, _ value: String, _ close: StaticString) {
        markup(open)
        plainText(value)
        markup(close)
    }
}
