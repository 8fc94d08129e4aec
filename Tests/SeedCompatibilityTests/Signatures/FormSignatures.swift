import ArcGIS
import Foundation

/// The members of feature forms that clients rely on, each with the type that they rely on. That it compiles is the test.
enum FormSignatures {
    static func featureForm() {
        let _: (ArcGISFeature) -> FeatureForm = FeatureForm.init(feature:)
        let _: KeyPath<FeatureForm, ArcGISFeature> = \.feature
        let _: KeyPath<FeatureForm, String> = \.title
        let _: KeyPath<FeatureForm, [FormElement]> = \.elements
        let _: KeyPath<FeatureForm, AttachmentsFormElement?> = \.defaultAttachmentsElement
        let _: KeyPath<FeatureForm, Bool> = \.hasEdits
        let _: KeyPath<FeatureForm, [String: [any Error]]> = \.validationErrors
        let _: (FeatureForm) -> () async throws -> [FormExpressionEvaluationError] = FeatureForm.evaluateExpressions
        let _: (FeatureForm) -> () async throws -> Void = FeatureForm.finishEditing
        let _: (FeatureForm) -> () -> Void = FeatureForm.discardEdits
    }

    static func formElement() {
        let _: KeyPath<FormElement, String> = \.label
        let _: KeyPath<FormElement, String> = \.description
        let _: KeyPath<FormElement, Bool> = \.isVisible
        let _: KeyPath<FormElement, Bool> = \.isEditable
    }

    static func fieldFormElement() {
        let _: KeyPath<FieldFormElement, String> = \.fieldName
        let _: KeyPath<FieldFormElement, FieldType?> = \.fieldType
        let _: KeyPath<FieldFormElement, String> = \.hint
        let _: KeyPath<FieldFormElement, Domain?> = \.domain
        let _: KeyPath<FieldFormElement, FormInput> = \.input
        let _: KeyPath<FieldFormElement, Bool> = \.isRequired
        let _: KeyPath<FieldFormElement, (any Sendable)?> = \.value
        let _: KeyPath<FieldFormElement, String> = \.formattedValue
        let _: KeyPath<FieldFormElement, [any Error]> = \.validationErrors
        let _: KeyPath<FieldFormElement, Bool> = \.hasValueExpression
        let _: (FieldFormElement) -> ((any Sendable)?) -> Void = FieldFormElement.updateValue(_:)
    }

    static func groupFormElement() {
        let _: KeyPath<GroupFormElement, [FormElement]> = \.elements
    }

    static func textFormElement() {
        let _: KeyPath<TextFormElement, String> = \.text
        let _: KeyPath<TextFormElement, TextFormElement.Format> = \.format
    }

    static func attachmentsFormElement() {
        let _: (AttachmentsFormElement) async throws -> [FormAttachment] = { try await $0.attachments }
        let _: (AttachmentsFormElement) -> (String, String, Data) -> FormAttachment? = AttachmentsFormElement
            .addAttachment(name:contentType:data:)
        let _: (AttachmentsFormElement) -> (FormAttachment) -> Void = AttachmentsFormElement.delete(_:)
    }

    static func formAttachment() {
        let _: WritableKeyPath<FormAttachment, String> = \.name
        let _: KeyPath<FormAttachment, String> = \.contentType
        let _: KeyPath<FormAttachment, Measurement<UnitInformationStorage>> = \.size
        let _: KeyPath<FormAttachment, FormAttachment.Kind> = \.kind
        let _: KeyPath<FormAttachment, URL?> = \.fileURL
        let _: KeyPath<FormAttachment, Bool> = \.isLocal
    }

    static func textBoxFormInput() {
        let _: KeyPath<TextBoxFormInput, Int> = \.minLength
        let _: KeyPath<TextBoxFormInput, Int> = \.maxLength
    }

    static func textAreaFormInput() {
        let _: KeyPath<TextAreaFormInput, Int> = \.minLength
        let _: KeyPath<TextAreaFormInput, Int> = \.maxLength
    }

    static func comboBoxFormInput() {
        let _: KeyPath<ComboBoxFormInput, FormInputNoValueOption> = \.noValueOption
        let _: KeyPath<ComboBoxFormInput, String> = \.noValueLabel
    }

    static func radioButtonsFormInput() {
        let _: KeyPath<RadioButtonsFormInput, FormInputNoValueOption> = \.noValueOption
        let _: KeyPath<RadioButtonsFormInput, String> = \.noValueLabel
    }

    static func switchFormInput() {
        let _: KeyPath<SwitchFormInput, CodedValue> = \.onValue
        let _: KeyPath<SwitchFormInput, CodedValue> = \.offValue
    }

    static func dateTimePickerFormInput() {
        let _: KeyPath<DateTimePickerFormInput, Bool> = \.includesTime
        let _: KeyPath<DateTimePickerFormInput, Date?> = \.min
        let _: KeyPath<DateTimePickerFormInput, Date?> = \.max
    }
}
