import ArcGIS
import Foundation

/// The members of pop-ups that clients rely on, each with the type that they rely on. That it compiles is the test.
enum PopupSignatures {
    static func popup() {
        let _: (any GeoElement, PopupDefinition?) -> Popup = Popup.init(geoElement:definition:)
        let _: KeyPath<Popup, any GeoElement> = \.geoElement
        let _: KeyPath<Popup, String> = \.title
        let _: KeyPath<Popup, [PopupElement]> = \.evaluatedElements
        let _: (Popup) -> () async throws -> [PopupExpressionEvaluation] = Popup.evaluateExpressions
    }

    static func popupDefinition() {
        let _: (any PopupSource) -> PopupDefinition = PopupDefinition.init(popupSource:)
        let _: WritableKeyPath<PopupDefinition, String> = \.title
    }

    static func popupField() {
        let _: WritableKeyPath<PopupField, String> = \.fieldName
        let _: WritableKeyPath<PopupField, String> = \.label
        let _: WritableKeyPath<PopupField, Bool> = \.isVisible
        let _: WritableKeyPath<PopupField, Bool> = \.isEditable
        let _: WritableKeyPath<PopupField, String> = \.tooltip
        let _: WritableKeyPath<PopupField, PopupFieldFormat?> = \.format
        let _: WritableKeyPath<PopupField, PopupField.StringFieldOption> = \.stringFieldOption
    }

    static func popupElement() {
        let _: KeyPath<PopupElement, String> = \.title
        let _: KeyPath<PopupElement, String> = \.description
    }

    static func fieldsPopupElement() {
        let _: KeyPath<FieldsPopupElement, [PopupField]> = \.fields
        let _: KeyPath<FieldsPopupElement, [String]> = \.labels
        let _: KeyPath<FieldsPopupElement, [String]> = \.formattedValues
    }

    static func textPopupElement() {
        let _: KeyPath<TextPopupElement, String> = \.text
    }

    static func mediaPopupElement() {
        let _: KeyPath<MediaPopupElement, [PopupMedia]> = \.media
    }

    static func attachmentsPopupElement() {
        let _: KeyPath<AttachmentsPopupElement, AttachmentsPopupElement.DisplayType> = \.displayType
        let _: (AttachmentsPopupElement) async throws -> [PopupAttachment] = { try await $0.attachments }
    }

    static func popupAttachment() {
        let _: KeyPath<PopupAttachment, String> = \.name
        let _: KeyPath<PopupAttachment, String> = \.contentType
        let _: KeyPath<PopupAttachment, Int> = \.size
        let _: KeyPath<PopupAttachment, PopupAttachment.Kind> = \.kind
        let _: KeyPath<PopupAttachment, URL?> = \.fileURL
        let _: KeyPath<PopupAttachment, Bool> = \.isLocal
    }

    static func popupMedia() {
        let _: KeyPath<PopupMedia, PopupMedia.Kind> = \.kind
        let _: KeyPath<PopupMedia, PopupMediaValue?> = \.value
        let _: KeyPath<PopupMedia, String> = \.title
        let _: KeyPath<PopupMedia, String> = \.caption
        let _: KeyPath<PopupMedia, TimeInterval> = \.imageRefreshInterval
    }

    static func popupMediaValue() {
        let _: KeyPath<PopupMediaValue, [any Sendable]> = \.data
        let _: KeyPath<PopupMediaValue, [String]> = \.labels
        let _: KeyPath<PopupMediaValue, URL?> = \.linkURL
        let _: KeyPath<PopupMediaValue, URL?> = \.sourceURL
    }
}
