<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <location filename="../../desktop/sotto/ui/app/shell.py" line="+164"/>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="+126"/>
        <source>Sotto closed unexpectedly</source>
        <translation>Sotto wurde unerwartet beendet</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Running the engine separately keeps a crash from closing the app. Takes effect after restart.</source>
        <translation>Läuft die Engine getrennt, beendet ein Absturz nicht mehr die App. Gilt ab dem nächsten Start.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="+67"/>
        <source>Turn on</source>
        <translation>Einschalten</translation>
    </message>
    <message>
        <location line="+147"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+50"/>
        <source>Quick prompt shortcut</source>
        <translation>Tastenkürzel der Schnellfrage</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Sotto keeps running when its window is closed</source>
        <translation>Sotto läuft weiter, wenn das Fenster geschlossen ist</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from this menu.</source>
        <translation>Öffnen und beenden lässt sich Sotto über dieses Menü.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from the tray, or quit with Ctrl+Q.</source>
        <translation>Öffnen und beenden lässt sich Sotto im Infobereich, beenden auch mit Strg+Q.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/tray.py" line="+65"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+136"/>
        <source>No model</source>
        <translation>Kein Modell</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+212"/>
        <source>not loaded</source>
        <translation>nicht geladen</translation>
    </message>
    <message>
        <location line="-5"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>loading</source>
        <translation>wird geladen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ready</source>
        <translation>bereit</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>answering</source>
        <translation>antwortet</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>ejecting</source>
        <translation>wird entladen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>could not be loaded</source>
        <translation>konnte nicht geladen werden</translation>
    </message>
    <message>
        <location line="+30"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+68"/>
        <source>Eject Model</source>
        <translation>Modell entladen</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-23"/>
        <source>Quick Prompt</source>
        <translation>Schnellfrage</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-19"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-1"/>
        <source>New Chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+148"/>
        <source>Open Sotto</source>
        <translation>Sotto öffnen</translation>
    </message>
    <message>
        <location line="-146"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+31"/>
        <source>Quit Sotto</source>
        <translation>Sotto beenden</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/chat_settings_panel.py" line="+37"/>
        <source>Instructions that the model gets before your messages</source>
        <translation>Anweisungen, die das Modell vor den Nachrichten erhält</translation>
    </message>
    <message>
        <location line="+18"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+37"/>
        <source>Chat settings</source>
        <translation>Chat-Einstellungen</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="+59"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+122"/>
        <source>System prompt</source>
        <translation>System-Prompt</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Reset to defaults</source>
        <translation>Auf Standard zurücksetzen</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+172"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+6"/>
        <source>Thinking</source>
        <translation>Denken</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="+59"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-33"/>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Close chat settings</source>
        <translation>Chat-Einstellungen schließen</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>This chat</source>
        <translation>Dieser Chat</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>Fewer options</source>
        <translation>Weniger Optionen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>More options</source>
        <translation>Mehr Optionen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+94"/>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach text files, PDFs or images</source>
        <translation>Textdateien, PDFs oder Bilder anhängen</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Take a screenshot</source>
        <translation>Bildschirmfoto aufnehmen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach a picture of a part of the screen</source>
        <translation>Ein Bild von einem Teil des Bildschirms anhängen</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+45"/>
        <source>Send message</source>
        <translation>Nachricht senden</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Write a message</source>
        <translation>Nachricht schreiben</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Shift+Enter for a new line</source>
        <translation>Umschalt+Eingabe für neue Zeile</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-100"/>
        <source>Stop loading</source>
        <translation>Laden stoppen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop answering</source>
        <translation>Antwort stoppen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Stop (Esc)</source>
        <translation>Stoppen (Esc)</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Send (Enter)</source>
        <translation>Senden (Eingabe)</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+148"/>
        <source>This model cannot chat</source>
        <translation>Dieses Modell kann nicht chatten</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Sends after this answer</source>
        <translation>Wird nach dieser Antwort gesendet</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sends as soon as the model is loaded</source>
        <translation>Wird gesendet, sobald das Modell geladen ist</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="+146"/>
        <source>Not attached</source>
        <translation>Nicht angehängt</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_actions.py" line="+82"/>
        <source>Drop oldest messages</source>
        <translation>Älteste Nachrichten weglassen</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Continue in a new chat with a summary</source>
        <translation>In neuem Chat mit Zusammenfassung fortsetzen</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Only the beginning of {name}</source>
        <translation>Nur den Anfang von {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Only the end of {name}</source>
        <translation>Nur das Ende von {name}</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Make {name} smaller ({tokens} tokens instead of {before})</source>
        <translation>{name} verkleinern ({tokens} statt {before} Tokens)</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Raise the context to {tokens} (memory need unknown)</source>
        <translation>Kontext auf {tokens} erhöhen (Speicherbedarf unbekannt)</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Raise the context to {tokens} (up to {size} more memory)</source>
        <translation>Kontext auf {tokens} erhöhen (bis zu {size} mehr Speicher)</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_gauge.py" line="+58"/>
        <source>The oldest messages are dropped; with them it would be {tokens}.</source>
        <translation>Die ältesten Nachrichten werden weggelassen; mit ihnen wären es {tokens}.</translation>
    </message>
    <message>
        <location line="+44"/>
        <source>Context: {used} of {limit} tokens, {share} %.</source>
        <translation>Kontext: {used} von {limit} Token, {share}&#xa0;%.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Context: {used} of {limit} tokens, all.</source>
        <translation>Kontext: {used} von {limit} Token, voll.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{used} of {limit} tokens, even without the oldest messages.</source>
        <translation>{used} von {limit} Token, auch ohne die ältesten Nachrichten.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+2"/>
        <source>Too long</source>
        <translation>Zu lang</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{used} of {limit} tokens.</source>
        <translation>{used} von {limit} Token.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{left} of {limit} tokens are left for the answer.</source>
        <translation>Für die Antwort bleiben {left} von {limit} Token.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Context nearly full</source>
        <translation>Kontext fast voll</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/drop_overlay.py" line="+77"/>
        <source>Drop to import chats</source>
        <translation>Ablegen, um Chats zu importieren</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not a file on this computer</source>
        <translation>Keine Datei auf diesem Computer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Download the model first, then drop its folder here.</source>
        <translation>Zuerst das Modell herunterladen, dann seinen Ordner hier ablegen.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Drop to load the model in this folder</source>
        <translation>Ablegen, um das Modell in diesem Ordner zu laden</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load the model with these weights</source>
        <translation>Ablegen, um das Modell mit diesen Gewichten zu laden</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name}, in the folder {folder}</source>
        <translation>{name} im Ordner {folder}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load this model</source>
        <translation>Ablegen, um dieses Modell zu laden</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{name} — and {count} more, which will not be loaded</source>
        <translation>
            <numerusform>{name} – und {count} weiteres, das nicht geladen wird</numerusform>
            <numerusform>{name} – und {count} weitere, die nicht geladen werden</numerusform>
        </translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Drop to attach this image to your message</source>
        <translation>Loslassen, um dieses Bild an die Nachricht anzuhängen</translation>
    </message>
    <message numerus="yes">
        <location line="-48"/>
        <source>Drop to load a model and attach this file|Drop to load a model and attach {count} files</source>
        <translation>
            <numerusform>Ablegen, um ein Modell zu laden und diese Datei anzuhängen</numerusform>
            <numerusform>Ablegen, um ein Modell zu laden und {count} Dateien anzuhängen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Drop to attach this file to your message|Drop to attach {count} files to your message</source>
        <translation>
            <numerusform>Ablegen, um diese Datei an die Nachricht anzuhängen</numerusform>
            <numerusform>Ablegen, um {count} Dateien an die Nachricht anzuhängen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+7"/>
        <source>{names} — and {count} more</source>
        <translation>
            <numerusform>{names} – und {count} weitere</numerusform>
            <numerusform>{names} – und {count} weitere</numerusform>
        </translation>
    </message>
    <message>
        <location line="+34"/>
        <source>Drop to import this model</source>
        <translation>Ablegen, um dieses Modell zu importieren</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="-23"/>
        <source>Answers stay text until you enter one.</source>
        <translation>Antworten bleiben Text, bis ein Schema eingegeben ist.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The previous choice still applies.</source>
        <translation>Die vorige Auswahl gilt weiter.</translation>
    </message>
    <message>
        <location line="+22"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-3"/>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schema</source>
        <translation>Schema</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Answer schema</source>
        <translation>Antwortschema</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Type or paste a JSON schema, or choose a file</source>
        <translation>JSON-Schema eingeben, einfügen oder als Datei wählen</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Choose a File…</source>
        <translation>Datei wählen&#xa0;…</translation>
    </message>
    <message>
        <location line="+90"/>
        <source>Choose a schema</source>
        <translation>Schema wählen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schemas</source>
        <translation>Schemas</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/preset_bar.py" line="+46"/>
        <source>Preset name</source>
        <translation>Name der Voreinstellung</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="+190"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+185"/>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="+90"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+408"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+8"/>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Undo: restore the preset</source>
        <translation>Rückgängig: Voreinstellung wiederherstellen</translation>
    </message>
    <message>
        <location line="+45"/>
        <location line="+23"/>
        <source>None</source>
        <comment>preset</comment>
        <translation>Keine</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Save Changes to “{name}”</source>
        <translation>Änderungen in „{name}“ speichern</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Save as Preset…</source>
        <translation>Als Voreinstellung speichern&#xa0;…</translation>
    </message>
    <message>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+354"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+307"/>
        <location line="+24"/>
        <source>Rename…</source>
        <translation>Umbenennen&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+21"/>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+14"/>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Preset: {name}</source>
        <translation>Voreinstellung: {name}</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>“{name}” was deleted; this chat keeps its settings.</source>
        <translation>„{name}“ wurde gelöscht; dieser Chat behält seine Einstellungen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="-20"/>
        <source>Think: on</source>
        <translation>Denken: ein</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: off</source>
        <translation>Denken: aus</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: low</source>
        <translation>Denken: niedrig</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: medium</source>
        <translation>Denken: mittel</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: high</source>
        <translation>Denken: hoch</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: max</source>
        <translation>Denken: max.</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>No thinking mode</source>
        <translation>Kein Denkmodus</translation>
    </message>
    <message>
        <location line="+21"/>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+45"/>
        <location line="+16"/>
        <source>Default</source>
        <translation>Standard</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>From Settings: {choice}</source>
        <translation>Aus Einstellungen: {choice}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Think</source>
        <translation>Denken</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Thinking: {choice}</source>
        <translation>Denken: {choice}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_announcer.py" line="+65"/>
        <source>{model} answers</source>
        <translation>{model} antwortet</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>The answer continues</source>
        <translation>Die Antwort wird fortgesetzt</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/toolkit/announcements.py" line="+22"/>
        <source>(code)</source>
        <translation>(Code)</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>There is no answer; your message is back in the composer.</source>
        <translation>Es gibt keine Antwort; die Nachricht steht wieder im Eingabefeld.</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>The answer is complete.</source>
        <translation>Die Antwort ist vollständig.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The answer was stopped.</source>
        <translation>Die Antwort wurde gestoppt.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The answer was interrupted.</source>
        <translation>Die Antwort wurde unterbrochen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_wording.py" line="+13"/>
        <source>Started to call a tool</source>
        <translation>Tool-Aufruf begonnen</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>finished</source>
        <translation>fertig</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>reached the length limit</source>
        <translation>Längenlimit erreicht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped because it repeated itself</source>
        <translation>wegen Wiederholung gestoppt</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped</source>
        <translation>gestoppt</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Reading prompt {done} / {total}</source>
        <translation>Prompt wird gelesen: {done} / {total}</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+28"/>
        <source>Answering</source>
        <translation>Antwortet</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Thought</source>
        <translation>Nachgedacht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thought for {duration}</source>
        <translation>{duration} nachgedacht</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Wants to use {tool}</source>
        <translation>Möchte {tool} verwenden</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Edited</source>
        <translation>Bearbeitet</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted: Sotto closed unexpectedly</source>
        <translation>Unterbrochen: Sotto wurde unerwartet beendet</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted</source>
        <translation>Unterbrochen</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+41"/>
        <source>Stopped before the answer started</source>
        <translation>Vor Beginn der Antwort gestoppt</translation>
    </message>
    <message>
        <location line="-39"/>
        <source>Stopped</source>
        <translation>Gestoppt</translation>
    </message>
    <message numerus="yes">
        <location line="+42"/>
        <source>1 older token dropped|{count} older tokens dropped</source>
        <translation>
            <numerusform>1 älteres Token weggelassen</numerusform>
            <numerusform>{count} ältere Token weggelassen</numerusform>
        </translation>
    </message>
    <message>
        <location line="+4"/>
        <source>first after {duration}</source>
        <translation>erstes nach {duration}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>prompt {tokens}</source>
        <translation>Prompt {tokens}</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>{count} cached</source>
        <translation>{count} im Cache</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>only {count} cached: {reason}</source>
        <translation>nur {count} im Cache: {reason}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>none cached: {reason}</source>
        <translation>nichts im Cache: {reason}</translation>
    </message>
    <message numerus="yes">
        <location line="-13"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+339"/>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="+275"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="+141"/>
        <source>1 token|{count} tokens</source>
        <translation>
            <numerusform>1 Token</numerusform>
            <numerusform>{count} Token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="-44"/>
        <source>A message can have at most {count} files: attach fewer, or combine them.</source>
        <translation>
            <numerusform>Eine Nachricht kann höchstens {count} Datei haben: weniger Dateien anhängen oder sie zusammenfassen.</numerusform>
            <numerusform>Eine Nachricht kann höchstens {count} Dateien haben: weniger Dateien anhängen oder sie zusammenfassen.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not everything was attached</source>
        <translation>Nicht alles wurde angehängt</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>{file} is already attached to this message.</source>
        <translation>{file} ist dieser Nachricht bereits angehängt.</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>{count} files were not attached</source>
        <translation>
            <numerusform>{count} Datei wurde nicht angehängt</numerusform>
            <numerusform>{count} Dateien wurden nicht angehängt</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_library.py" line="+175"/>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/conversation/chat_loading.py" line="+41"/>
        <source>1 message of this chat can no longer be read; everything else is here.|{count} messages of this chat can no longer be read; everything else is here.</source>
        <translation>
            <numerusform>1 Nachricht dieses Chats ist nicht mehr lesbar; alles andere ist da.</numerusform>
            <numerusform>{count} Nachrichten dieses Chats sind nicht mehr lesbar; alles andere ist da.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Not everything could be read</source>
        <translation>Nicht alles war lesbar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_session.py" line="+168"/>
        <source>Waiting for the model…</source>
        <translation>Wartet auf das Modell&#xa0;…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reading prompt…</source>
        <translation>Prompt wird gelesen&#xa0;…</translation>
    </message>
    <message>
        <location line="+162"/>
        <source>No answer</source>
        <translation>Keine Antwort</translation>
    </message>
    <message>
        <location line="+151"/>
        <source>No summary</source>
        <translation>Keine Zusammenfassung</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_thread.py" line="+173"/>
        <source>{file} could not be read or written: {reason}.</source>
        <translation>{file} konnte nicht gelesen oder geschrieben werden: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/prefix_reuse.py" line="+43"/>
        <source>this model has not seen it yet</source>
        <translation>dieses Modell hat ihn noch nicht gesehen</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>the setting for thinking was changed</source>
        <translation>die Einstellung zum Denken wurde geändert</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>the oldest messages were dropped</source>
        <translation>die ältesten Nachrichten wurden weggelassen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>its cache was evicted</source>
        <translation>sein Cache wurde verdrängt</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>the system prompt was changed</source>
        <translation>der System-Prompt wurde geändert</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>an earlier message was changed</source>
        <translation>eine frühere Nachricht wurde geändert</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/row_ids.py" line="+58"/>
        <source>The message before this one could not be saved, so this one is not saved either.</source>
        <translation>Die vorige Nachricht konnte nicht gespeichert werden, daher wird auch diese nicht gespeichert.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/summary.py" line="+78"/>
        <source>The model wrote nothing.</source>
        <translation>Das Modell hat nichts geschrieben.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+33"/>
        <source>Code in {language}</source>
        <translation>Code in {language}</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+1"/>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Wrap lines</source>
        <translation>Zeilenumbruch</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Wrap long lines</source>
        <translation>Lange Zeilen umbrechen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy code</source>
        <translation>Code kopieren</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+51"/>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+41"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+3"/>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="+47"/>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy report</source>
        <translation>Bericht kopieren</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Show logs</source>
        <translation>Protokolle zeigen</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>This report stays on your computer unless you send it. It has no messages, keys or names of chats.</source>
        <translation>Dieser Bericht bleibt auf Ihrem Computer, solange Sie ihn nicht verschicken. Er enthält keine Nachrichten, Schlüssel oder Namen von Chats.</translation>
    </message>
    <message>
        <location line="+19"/>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+12"/>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="+147"/>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="+200"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="+157"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="+98"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+205"/>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/view.py" line="+288"/>
        <source>Scroll table sideways</source>
        <translation>Tabelle seitwärts scrollen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Scroll code sideways</source>
        <translation>Code seitwärts scrollen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+63"/>
        <location line="+76"/>
        <source>Searched folders</source>
        <translation>Durchsuchte Ordner</translation>
    </message>
    <message>
        <location line="-74"/>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+340"/>
        <source>Add a model folder</source>
        <translation>Modellordner hinzufügen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder…</source>
        <translation>Ordner hinzufügen&#xa0;…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="+40"/>
        <location line="+34"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+45"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-244"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+71"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+70"/>
        <source>Get a model</source>
        <translation>Modell holen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/sight_actions.py" line="+64"/>
        <source>{model} does not see images</source>
        <translation>{model} sieht keine Bilder</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Switch to a model that sees them, or send without.</source>
        <translation>Wechseln Sie zu einem Modell, das sie sieht, oder senden Sie ohne.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None of your models sees images: get one that does, or send without.</source>
        <translation>Keines Ihrer Modelle sieht Bilder: Holen Sie eines, das es kann, oder senden Sie ohne.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Use {model}</source>
        <translation>{model} verwenden</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Get a model…</source>
        <translation>Modell holen&#xa0;…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Send without image|Send without images</source>
        <translation>
            <numerusform>Ohne Bild senden</numerusform>
            <numerusform>Ohne Bilder senden</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+10"/>
        <source>Looking for models…</source>
        <translation>Modelle werden gesucht&#xa0;…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Sotto reads them in place and never changes them. Drop a model here to add it.</source>
        <translation>Sotto liest sie an Ort und Stelle und ändert sie nie. Zum Hinzufügen ein Modell hier ablegen.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No other models found yet</source>
        <translation>Noch keine anderen Modelle gefunden</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models of Ollama, LM Studio and Hugging Face tools appear by themselves. Drop a model here to add it.</source>
        <translation>Modelle von Ollama, LM Studio und Hugging-Face-Tools erscheinen von selbst. Zum Hinzufügen ein Modell hier ablegen.</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message numerus="yes">
        <location line="+17"/>
        <source>Found 1 model you already have ({size})|Found {count} models you already have ({size})</source>
        <translation>
            <numerusform>1 vorhandenes Modell gefunden ({size})</numerusform>
            <numerusform>{count} vorhandene Modelle gefunden ({size})</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="+183"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+235"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="+108"/>
        <source>1 model|{count} models</source>
        <translation>
            <numerusform>1 Modell</numerusform>
            <numerusform>{count} Modelle</numerusform>
        </translation>
    </message>
    <message>
        <location line="+0"/>
        <source>no models</source>
        <translation>keine Modelle</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>4-bit models of up to about {billions}B suit this machine ({size} of memory).</source>
        <translation>Für diesen Computer ({size} Speicher) eignen sich 4-Bit-Modelle bis etwa {billions}B.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_controller.py" line="+84"/>
        <source>The model was not downloaded</source>
        <translation>Das Modell wurde nicht heruntergeladen</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-221"/>
        <location line="+272"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+223"/>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="-28"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="-27"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+31"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-154"/>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-51"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-2"/>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+79"/>
        <source>Name of the model</source>
        <translation>Name des Modells</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Instructions that the model gets before each conversation</source>
        <translation>Anweisungen, die das Modell vor jedem Gespräch bekommt</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+38"/>
        <source>Stop texts</source>
        <translation>Stopptexte</translation>
    </message>
    <message>
        <location line="-37"/>
        <source>One per line</source>
        <translation>Einer pro Zeile</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template</source>
        <translation>Vorlage</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+45"/>
        <source>What the model reads</source>
        <translation>Was das Modell liest</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Options</source>
        <translation>Optionen</translation>
    </message>
    <message>
        <location line="+70"/>
        <source>The template leaves the system prompt out.</source>
        <translation>Die Vorlage lässt den System-Prompt weg.</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Hide the template</source>
        <translation>Vorlage ausblenden</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Change the template</source>
        <translation>Vorlage ändern</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+38"/>
        <source>The selected model</source>
        <translation>Das ausgewählte Modell</translation>
    </message>
    <message>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="+227"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="+89"/>
        <source>Suits this machine best</source>
        <translation>Passt am besten zu diesem Rechner</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Show its page in the browser</source>
        <translation>Die Seite des Modells im Browser zeigen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Its page</source>
        <translation>Seite des Modells</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Opens your browser</source>
        <translation>Öffnet den Browser</translation>
    </message>
    <message>
        <location line="+134"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+10"/>
        <source>Get</source>
        <translation>Holen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Get {name}</source>
        <translation>{name} holen</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>You have it</source>
        <translation>Vorhanden</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+0"/>
        <source>Get the model</source>
        <translation>Modell holen</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The name of a model in Ollama’s library, such as llama3.2:3b, or of one on Hugging Face, such as mlx-community/Qwen3-0.6B-4bit.</source>
        <translation>Der Name eines Modells in Ollamas Bibliothek, etwa llama3.2:3b, oder auf Hugging Face, etwa mlx-community/Qwen3-0.6B-4bit.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-76"/>
        <source>Programming</source>
        <translation>Programmieren</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Many languages</source>
        <translation>Viele Sprachen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Long texts</source>
        <translation>Lange Texte</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mathematics</source>
        <translation>Mathematik</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Made in the open</source>
        <translation>Offen entwickelt</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Everyday questions</source>
        <translation>Alltagsfragen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Small machines</source>
        <translation>Kleine Rechner</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thinks first</source>
        <translation>Denkt erst nach</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Uses tools</source>
        <translation>Nutzt Werkzeuge</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Download by this name</source>
        <translation>Unter diesem Namen herunterladen</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Made by</source>
        <translation>Von</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Published by</source>
        <translation>Veröffentlicht von</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Architecture</source>
        <translation>Architektur</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/download_list.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-57"/>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} licence</source>
        <translation>{name}-Lizenz</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{fit} with {count} tokens</source>
        <translation>{fit} mit {count} Token</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>On {host}</source>
        <translation>Auf {host}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>By name</source>
        <translation>Nach Namen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Suggestions</source>
        <translation>Vorschläge</translation>
    </message>
    <message numerus="yes">
        <location line="+6"/>
        <source>1 download|{count} downloads</source>
        <translation>
            <numerusform>1 Download</numerusform>
            <numerusform>{count} Downloads</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="+71"/>
        <source>Resume</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Resume the download of {name}</source>
        <translation>Download von {name} fortsetzen</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+131"/>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Try the download of {name} again</source>
        <translation>Download von {name} erneut versuchen</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+24"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-36"/>
        <location line="+36"/>
        <source>Pause</source>
        <translation>Pausieren</translation>
    </message>
    <message>
        <location line="-24"/>
        <source>Pause the download of {name}</source>
        <translation>Download von {name} pausieren</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Cancel the download of {name}</source>
        <translation>Download von {name} abbrechen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customize_sheet.py" line="+39"/>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-33"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+17"/>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="+57"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+186"/>
        <location line="+23"/>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Create</source>
        <translation>Erstellen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Create the model</source>
        <translation>Modell erstellen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+2"/>
        <source>Downloaded</source>
        <translation>Heruntergeladen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-116"/>
        <source>Queued</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Looking it up</source>
        <translation>Wird nachgeschlagen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Downloading</source>
        <translation>Wird heruntergeladen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Stalled</source>
        <translation>Stockt</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Retrying</source>
        <translation>Neuer Versuch</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+32"/>
        <source>Paused</source>
        <translation>Pausiert</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verifying</source>
        <translation>Wird überprüft</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+1"/>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <location line="+12"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+21"/>
        <source>{done} of {total}</source>
        <translation>{done} von {total}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>more than a day left</source>
        <translation>noch mehr als ein Tag</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+3"/>
        <source>{time} left</source>
        <translation>noch {time}</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Updating</source>
        <translation>Wird aktualisiert</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>From Ollama’s library, at {host}.</source>
        <translation>Aus der Bibliothek von Ollama ({host}).</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From Hugging Face, where {owner} publishes it.</source>
        <translation>Von Hugging Face, veröffentlicht von {owner}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From {host}, where {owner} publishes it.</source>
        <translation>Von {host}, veröffentlicht von {owner}.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>You already have it: {places}.</source>
        <translation>Bereits vorhanden: {places}.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{name} is being downloaded.</source>
        <translation>{name} wird heruntergeladen.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} could not be downloaded</source>
        <translation>{name} konnte nicht heruntergeladen werden</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Its {size} were checked.</source>
        <translation>Seine {size} wurden geprüft.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} is up to date</source>
        <translation>{name} ist aktuell</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} were downloaded and checked.</source>
        <translation>{size} wurden heruntergeladen und geprüft.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+58"/>
        <source>{name} is here</source>
        <translation>{name} ist da</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="-49"/>
        <source>Earlier downloads could not be read</source>
        <translation>Frühere Downloads waren nicht lesbar</translation>
    </message>
    <message>
        <location line="+46"/>
        <source>The download of {name} was cancelled</source>
        <translation>Der Download von {name} wurde abgebrochen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The {size} downloaded so far will be deleted in a moment.</source>
        <translation>Die bisher heruntergeladenen {size} werden gleich gelöscht.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/idle_unloader.py" line="+68"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-92"/>
        <source>Stays loaded</source>
        <translation>Bleibt geladen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unloads in {time} if idle</source>
        <translation>Wird bei Leerlauf in {time} entladen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="-157"/>
        <source>{free} free</source>
        <translation>{free} frei</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Memory: {free} of {total} free</source>
        <translation>Speicher: {free} von {total} frei</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{free} free · getting tight</source>
        <translation>{free} frei · wird knapp</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory getting tight: {free} of {total} free</source>
        <translation>Speicher wird knapp: {free} von {total} frei</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · nearly full</source>
        <translation>{free} frei · fast voll</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory nearly full: {free} of {total} free</source>
        <translation>Speicher fast voll: {free} von {total} frei</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · critical</source>
        <translation>{free} frei · kritisch</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory critical: {free} of {total} free</source>
        <translation>Speicher kritisch: {free} von {total} frei</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+63"/>
        <source>Show memory details</source>
        <translation>Speicherdetails anzeigen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide memory details</source>
        <translation>Speicherdetails ausblenden</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Memory unknown</source>
        <translation>Speicher unbekannt</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Contexts take at most {size}</source>
        <translation>Kontexte belegen höchstens {size}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>This model</source>
        <translation>Dieses Modell</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Context in use</source>
        <translation>Genutzter Kontext</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+8"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+23"/>
        <source>Prompt cache</source>
        <translation>Prompt-Cache</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>A context of 1 token|A context of {count} tokens</source>
        <translation>
            <numerusform>Kontext mit 1 Token</numerusform>
            <numerusform>Kontext mit {count} Token</numerusform>
        </translation>
    </message>
    <message>
        <location line="+50"/>
        <source>{name} would take {size}</source>
        <translation>{name} würde {size} belegen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-262"/>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-183"/>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <location line="-109"/>
        <source>While computing</source>
        <translation>Beim Rechnen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Together</source>
        <translation>Zusammen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Predicted</source>
        <translation>Erwartet</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In use now</source>
        <translation>Jetzt belegt</translation>
    </message>
    <message>
        <location line="+49"/>
        <location line="+206"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+30"/>
        <source>Favourite</source>
        <translation>Favorit</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="-175"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-203"/>
        <source>Close details</source>
        <translation>Details schließen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+8"/>
        <location line="+218"/>
        <source>Add adapter…</source>
        <translation>Adapter hinzufügen …</translation>
    </message>
    <message>
        <location line="-214"/>
        <source>Keep the model in Sotto’s own store, so that it stays when the other program deletes it</source>
        <translation>Das Modell in Sottos eigenem Speicher behalten, damit es bleibt, wenn das andere Programm es löscht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Keep a copy…</source>
        <translation>Kopie behalten…</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-23"/>
        <source>Context length</source>
        <translation>Kontextlänge</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>More about this model</source>
        <translation>Mehr zu diesem Modell</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep the model in memory when it is idle</source>
        <translation>Modell bei Leerlauf im Speicher behalten</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+173"/>
        <source>Keep loaded</source>
        <translation>Geladen halten</translation>
    </message>
    <message>
        <location line="-6"/>
        <source>Details of {name}</source>
        <translation>Details zu {name}</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Favourites come first in the list</source>
        <translation>Favoriten stehen in der Liste oben</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Adapter: {name}</source>
        <translation>Adapter: {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>No adapter</source>
        <translation>Kein Adapter</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Remove adapter</source>
        <translation>Adapter entfernen</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Unknown whether it fits</source>
        <translation>Unbekannt, ob es passt</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Converted to {format}</source>
        <translation>Konvertiert in {format}</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{needed} of {total}</source>
        <translation>{needed} von {total}</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>It will be available again once its disk is connected.</source>
        <translation>Es ist wieder verfügbar, sobald sein Laufwerk verbunden ist.</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-34"/>
        <source>Eject</source>
        <translation>Entladen</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-9"/>
        <source>Eject {name}</source>
        <translation>{name} entladen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+7"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+25"/>
        <source>Stop</source>
        <translation>Stoppen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+8"/>
        <source>Stop loading {name}</source>
        <translation>Laden von {name} stoppen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load anyway</source>
        <translation>Doch laden</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Load {name} anyway</source>
        <translation>{name} doch laden</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load {name}</source>
        <translation>{name} laden</translation>
    </message>
    <message>
        <location line="+92"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+275"/>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-147"/>
        <source>Built in</source>
        <translation>Mitgeliefert</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>fits into memory</source>
        <translation>passt in den Speicher</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>a tight fit</source>
        <translation>passt knapp</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>does not fit into memory</source>
        <translation>passt nicht in den Speicher</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>unknown whether it fits</source>
        <translation>unbekannt, ob es passt</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Disk not connected</source>
        <translation>Laufwerk nicht verbunden</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>favourite</source>
        <translation>Favorit</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stays loaded</source>
        <translation>bleibt geladen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-15"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+32"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-210"/>
        <source>Cannot run here</source>
        <translation>Hier nicht lauffähig</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-31"/>
        <source>sees images</source>
        <translation>sieht Bilder</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Loaded</source>
        <translation>Geladen</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+67"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-32"/>
        <source>Could not be loaded</source>
        <translation>Konnte nicht geladen werden</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{bits}-bit</source>
        <translation>{bits}&#xa0;Bit</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+179"/>
        <source>vectors</source>
        <translation>Vektoren</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>1-token context|{count}-token context</source>
        <translation>
            <numerusform>1 Token Kontext</numerusform>
            <numerusform>{count} Token Kontext</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{number} parameters</source>
        <translation>{number} Parameter</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Images</source>
        <translation>Bilder</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tools</source>
        <translation>Tools</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Embeddings, with sotto embed or the API</source>
        <translation>Embeddings, mit sotto embed oder über die API</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Embeddings</source>
        <translation>Embeddings</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{size} on disk, deleting frees {freed}</source>
        <translation>{size} auf der Festplatte, Löschen gibt {freed} frei</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Memory in use after loading: {percent} % of {size}.</source>
        <translation>Speicherbelegung nach dem Laden: {percent}&#xa0;% von {size}.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Predicted {size}, uses {actual}</source>
        <translation>Erwartet: {size}, belegt: {actual}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-90"/>
        <source>Recently Used</source>
        <translation>Zuletzt verwendet</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-84"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+23"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-279"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+342"/>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+3"/>
        <source>Fit</source>
        <translation>Eignung</translation>
    </message>
    <message>
        <location line="+74"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+16"/>
        <source>Rescan models</source>
        <translation>Modelle neu suchen</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-2"/>
        <source>Sort models</source>
        <translation>Modelle sortieren</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <source>Download a model by name</source>
        <translation>Modell über seinen Namen herunterladen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-15"/>
        <source>Find a model to download</source>
        <translation>Ein Modell zum Herunterladen finden</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+3"/>
        <source>Manage models</source>
        <translation>Modelle verwalten</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Manage…</source>
        <translation>Verwalten&#xa0;…</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-1"/>
        <source>Show all models on a page</source>
        <translation>Alle Modelle auf einer Seite anzeigen</translation>
    </message>
    <message>
        <location line="+12"/>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_table_view.py" line="+92"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-6"/>
        <location line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+10"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-10"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="-13"/>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <location line="+170"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+122"/>
        <source>No model is called “{text}”.</source>
        <translation>Kein Modell heißt „{text}“.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Other models appear here. Get one below, or drop one on this window.</source>
        <translation>Hier erscheinen andere Modelle. Eines unten holen oder auf diesem Fenster ablegen.</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Details</source>
        <translation>Details</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Name</source>
        <translation>Namen kopieren</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Show Folder</source>
        <translation>Ordner anzeigen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verify Files</source>
        <translation>Dateien überprüfen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Customize…</source>
        <translation>Anpassen …</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use a Template…</source>
        <translation>Vorlage verwenden&#xa0;…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use the Model’s Template</source>
        <translation>Vorlage des Modells verwenden</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Duplicate…</source>
        <translation>Duplizieren…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep a Copy…</source>
        <translation>Kopie behalten…</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep Loaded</source>
        <translation>Geladen halten</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-20"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+22"/>
        <source>Choose a model</source>
        <translation>Modell wählen</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-170"/>
        <source>Filter models</source>
        <translation>Modelle filtern</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Filter models…</source>
        <translation>Modelle filtern&#xa0;…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>No model matches.</source>
        <translation>Keine Treffer.</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Manage models…</source>
        <translation>Modelle verwalten&#xa0;…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-253"/>
        <source>Eject and free its memory</source>
        <translation>Entladen und Speicher freigeben</translation>
    </message>
    <message>
        <location line="+70"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+218"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-2"/>
        <source>Ejecting…</source>
        <translation>Wird entladen&#xa0;…</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>cannot run</source>
        <translation>nicht lauffähig</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>loaded, answering</source>
        <translation>geladen, antwortet</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>loaded</source>
        <translation>geladen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-55"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-220"/>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+1"/>
        <source>Bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Source</source>
        <translation>Quelle</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last used</source>
        <translation>Zuletzt verwendet</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Disk use</source>
        <translation>Festplatte</translation>
    </message>
    <message numerus="yes">
        <location line="+175"/>
        <source>{shown} of 1 model|{shown} of {count} models</source>
        <translation>
            <numerusform>{shown} von 1 Modell</numerusform>
            <numerusform>{shown} von {count} Modellen</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-25"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+9"/>
        <source>{size} on disk</source>
        <translation>{size} auf der Festplatte</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-10"/>
        <source>Loading…</source>
        <translation>Wird geladen&#xa0;…</translation>
    </message>
    <message numerus="yes">
        <location line="+27"/>
        <source>With a context of 1 token.|With a context of {count} tokens.</source>
        <translation>
            <numerusform>Mit einem Kontext von 1 Token.</numerusform>
            <numerusform>Mit einem Kontext von {count} Token.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>All copies together, in {places}</source>
        <translation>Alle Kopien zusammen ({places})</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>{title}, sorted down</source>
        <translation>{title}, absteigend sortiert</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{title}, sorted up</source>
        <translation>{title}, aufsteigend sortiert</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_templates.py" line="+114"/>
        <source>A template for {name}: Jinja or Go</source>
        <translation>Vorlage für {name}: Jinja oder Go</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its template</source>
        <translation>{name} behält seine Vorlage</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Template set</source>
        <translation>Vorlage festgelegt</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>It makes the prompts of {name} from now on.</source>
        <translation>Sie erzeugt ab jetzt die Prompts von {name}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It makes the prompts of {name} from the next load on.</source>
        <translation>Sie erzeugt die Prompts von {name} ab dem nächsten Laden.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template reset</source>
        <translation>Vorlage zurückgesetzt</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} uses its own template from now on.</source>
        <translation>{name} verwendet ab jetzt seine eigene Vorlage.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} uses its own template from the next load on.</source>
        <translation>{name} verwendet ab dem nächsten Laden seine eigene Vorlage.</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>The folder of a LoRA adapter for {name}</source>
        <translation>Der Ordner eines LoRA-Adapters für {name}</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its adapter</source>
        <translation>{name} behält seinen Adapter</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Adapter added</source>
        <translation>Adapter hinzugefügt</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers with it from now on.</source>
        <translation>{name} antwortet ab jetzt mit ihm.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers with it from the next load on.</source>
        <translation>{name} antwortet ab dem nächsten Laden mit ihm.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Adapter removed</source>
        <translation>Adapter entfernt</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers without one from now on.</source>
        <translation>{name} antwortet ab jetzt ohne Adapter.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers without one from the next load on.</source>
        <translation>{name} antwortet ab dem nächsten Laden ohne Adapter.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="-5"/>
        <source>{name} was not deleted</source>
        <translation>{name} wurde nicht gelöscht</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{name} was deleted</source>
        <translation>{name} wurde gelöscht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frees {size} once the trash is emptied, in an hour.</source>
        <translation>Gibt {size} frei, sobald der Papierkorb in einer Stunde geleert wird.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{name} could not be restored</source>
        <translation>{name} konnte nicht wiederhergestellt werden</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Restore {name}</source>
        <translation>{name} wiederherstellen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty the Trash</source>
        <translation>Papierkorb leeren</translation>
    </message>
    <message>
        <location line="-40"/>
        <source>The trash of models could not be emptied</source>
        <translation>Der Papierkorb der Modelle konnte nicht geleert werden</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+12"/>
        <source>The name of {folder} is not UTF-8, so it cannot be saved; rename the folder.</source>
        <translation>Der Name von {folder} ist nicht in UTF-8 und lässt sich daher nicht speichern; bitte den Ordner umbenennen.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The folder was not added</source>
        <translation>Der Ordner wurde nicht hinzugefügt</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="-31"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-9"/>
        <source>Back to the chat</source>
        <translation>Zurück zum Chat</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Search for models</source>
        <translation>Modelle suchen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Search Hugging Face, or type a name</source>
        <translation>Hugging Face durchsuchen oder Namen eingeben</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+5"/>
        <source>Import a folder or a GGUF file into Sotto’s own store</source>
        <translation>Einen Ordner oder eine GGUF-Datei in Sottos eigenen Speicher importieren</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import…</source>
        <translation>Importieren …</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Details of the selected model</source>
        <translation>Details zum ausgewählten Modell</translation>
    </message>
    <message numerus="yes">
        <location line="+101"/>
        <source>1 deleted model…|{count} deleted models…</source>
        <translation>
            <numerusform>1 gelöschtes Modell…</numerusform>
            <numerusform>{count} gelöschte Modelle…</numerusform>
        </translation>
    </message>
    <message>
        <location line="+57"/>
        <source>No models yet.</source>
        <translation>Noch keine Modelle.</translation>
    </message>
    <message>
        <location line="+43"/>
        <source>Ascending</source>
        <translation>Aufsteigend</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Descending</source>
        <translation>Absteigend</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+6"/>
        <source>Choose one above or in the list, or drop one here</source>
        <translation>Eines oben oder in der Liste wählen oder hier ablegen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Loads when needed</source>
        <translation>Wird bei Bedarf geladen</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Loading</source>
        <translation>Wird geladen</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>1 token of context|{count} tokens of context</source>
        <translation>
            <numerusform>1 Token Kontext</numerusform>
            <numerusform>{count} Token Kontext</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>makes embeddings</source>
        <translation>erzeugt Embeddings</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-11"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+2"/>
        <source>predicts tokens ahead</source>
        <translation>sagt Tokens voraus</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+20"/>
        <source>Reading the tokenizer</source>
        <translation>Tokenizer wird gelesen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Warming up</source>
        <translation>Wird aufgewärmt</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>no progress for {time}</source>
        <translation>seit {time} kein Fortschritt</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/palette/palette.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+298"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-39"/>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-47"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+49"/>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <location line="+152"/>
        <source>Command palette</source>
        <translation>Befehlspalette</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Search chats, models and commands</source>
        <translation>Chats, Modelle und Befehle durchsuchen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Open a chat, load a model, run a command</source>
        <translation>Chat öffnen, Modell laden, Befehl ausführen</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Results</source>
        <translation>Ergebnisse</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-69"/>
        <source>No results.</source>
        <translation>Keine Ergebnisse.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/global_shortcut.py" line="+91"/>
        <source>{keys} is not a key that could be pressed: write it as Ctrl+Alt+Space.</source>
        <translation>{keys} ist keine Taste, die sich drücken lässt: bitte in der Form Ctrl+Alt+Space angeben.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{keys} alone would stop working in all other programs: combine it with Ctrl, Alt or Meta.</source>
        <translation>{keys} allein würde in allen anderen Programmen nicht mehr funktionieren: bitte mit Strg, Alt oder Meta kombinieren.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_item.py" line="+51"/>
        <source>{file} cannot be changed: {reason}.</source>
        <translation>{file} kann nicht geändert werden: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/mac_keys.py" line="+74"/>
        <source>{keys} cannot be taken: choose a letter, a digit or Space with Cmd, Ctrl or Option.</source>
        <translation>{keys} lässt sich nicht verwenden: bitte einen Buchstaben, eine Ziffer oder die Leertaste mit Cmd, Ctrl oder Option wählen.</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="+79"/>
        <source>{keys} is already used by another program: choose another shortcut for the quick prompt.</source>
        <translation>{keys} wird bereits von einem anderen Programm verwendet: bitte ein anderes Tastenkürzel für die Schnellfrage wählen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/portal_keys.py" line="+25"/>
        <source>Show or hide the quick prompt</source>
        <translation>Schnellfrage ein- oder ausblenden</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Waiting for the desktop to grant the shortcut.</source>
        <translation>Wartet darauf, dass der Desktop das Tastenkürzel freigibt.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop grants shortcuts only to installed apps: install Sotto’s menu entry, app.sotto.desktop, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Der Desktop gibt Tastenkürzel nur für installierte Apps frei: bitte den Menüeintrag von Sotto, app.sotto.desktop, installieren oder in den Einstellungen des Desktops ein Tastenkürzel für `sotto --toggle` festlegen.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not grant {keys}, and will ask again at the next start: choose another shortcut or none, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Der Desktop hat {keys} nicht freigegeben und fragt beim nächsten Start erneut: bitte ein anderes Tastenkürzel oder keines wählen oder in den Einstellungen des Desktops eines für `sotto --toggle` festlegen.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not answer the request for {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Der Desktop hat auf die Anfrage nach {keys} nicht geantwortet: bitte ein anderes Tastenkürzel wählen oder in den Einstellungen des Desktops eines für `sotto --toggle` festlegen.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The desktop’s shortcut service has stopped; {keys} will work again when it is back.</source>
        <translation>Der Dienst des Desktops für Tastenkürzel wurde beendet; {keys} funktioniert wieder, sobald er zurück ist.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The desktop could not grant {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Der Desktop konnte {keys} nicht freigeben: bitte ein anderes Tastenkürzel wählen oder in den Einstellungen des Desktops eines für `sotto --toggle` festlegen.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop has withdrawn the shortcut: choose another one, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>Der Desktop hat das Tastenkürzel zurückgezogen: bitte ein anderes wählen oder in den Einstellungen des Desktops eines für `sotto --toggle` festlegen.</translation>
    </message>
    <message>
        <location line="+121"/>
        <source>Your desktop calls it “{description}”. Choose its shortcut in the settings of your desktop.</source>
        <translation>Der Desktop nennt es „{description}“. Das Tastenkürzel lässt sich in den Einstellungen des Desktops wählen.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your desktop grants: {keys}. You can change it in the settings of your desktop.</source>
        <translation>Vom Desktop freigegeben: {keys}. In den Einstellungen des Desktops lässt es sich ändern.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/shortcut_messages.py" line="+6"/>
        <source>Apps cannot register shortcuts on this desktop: bind `sotto --toggle` to {keys} in the settings of your desktop.</source>
        <translation>Auf diesem Desktop können Apps keine Tastenkürzel registrieren: bitte in den Einstellungen des Desktops {keys} für `sotto --toggle` festlegen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="-7"/>
        <source>There is no {keys} on this keyboard: choose other keys for the quick prompt.</source>
        <translation>{keys} gibt es auf dieser Tastatur nicht: bitte andere Tasten für die Schnellfrage wählen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+18"/>
        <source>On</source>
        <translation>Ein</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Low</source>
        <translation>Niedrig</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Medium</source>
        <translation>Mittel</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>High</source>
        <translation>Hoch</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max</source>
        <translation>Maximal</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much</source>
        <translation>Ob und, falls einstellbar, wie viel das Modell vor der Antwort nachdenkt</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Answers follow the JSON schema.</source>
        <translation>Antworten folgen dem JSON-Schema.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the regular expression.</source>
        <translation>Antworten entsprechen dem regulären Ausdruck.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the Lark grammar.</source>
        <translation>Antworten entsprechen der Lark-Grammatik.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+99"/>
        <source>Format</source>
        <translation>Format</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+9"/>
        <source>Answers are JSON objects.</source>
        <translation>Antworten sind JSON-Objekte.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Answers follow {name}.</source>
        <translation>Antworten folgen {name}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match {name}.</source>
        <translation>Antworten entsprechen {name}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/presets.py" line="+122"/>
        <source>A preset needs a name.</source>
        <translation>Eine Voreinstellung braucht einen Namen.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>A name can have at most {most} characters; this one has {count}.</source>
        <translation>Ein Name kann höchstens {most} Zeichen haben; dieser hat {count}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>There is already a preset “{name}”: choose another name.</source>
        <translation>Es gibt bereits eine Voreinstellung „{name}“: bitte einen anderen Namen wählen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="-46"/>
        <source>Max thinking tokens</source>
        <translation>Max. Denk-Token</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; then thinking ends</source>
        <translation>In Token; danach endet das Denken</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+19"/>
        <source>no limit</source>
        <translation>unbegrenzt</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>0 always picks the most likely token; higher is more varied</source>
        <translation>0 wählt immer das wahrscheinlichste Token; höhere Werte variieren mehr</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from the most likely tokens up to this total probability</source>
        <translation>Wählt aus den wahrscheinlichsten Token bis zu dieser Gesamtwahrscheinlichkeit</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from this many of the most likely tokens; 0 from all</source>
        <translation>Wählt aus so vielen der wahrscheinlichsten Token; bei 0 aus allen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens below this fraction of the highest probability</source>
        <translation>Schließt Token unter diesem Anteil der höchsten Wahrscheinlichkeit aus</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Typical-p</source>
        <translation>Typical-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens that are unusually likely or unlikely</source>
        <translation>Schließt ungewöhnlich wahrscheinliche oder unwahrscheinliche Token aus</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC</source>
        <translation>XTC</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How often the most likely tokens are excluded, for variety</source>
        <translation>Wie oft die wahrscheinlichsten Token zur Abwechslung ausgeschlossen werden</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Repeat penalty</source>
        <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 1 repeats less</source>
        <translation>Über 1 gibt es weniger Wiederholungen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY</source>
        <translation>DRY</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 0 avoids repeating whole passages</source>
        <translation>Über 0 werden Wiederholungen ganzer Passagen vermieden</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Seed</source>
        <translation>Seed</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The same seed gives the same answer</source>
        <translation>Derselbe Seed ergibt dieselbe Antwort</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>random</source>
        <translation>zufällig</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max response tokens</source>
        <translation>Max. Antwort-Token</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+27"/>
        <source>In tokens</source>
        <translation>In Token</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Presence penalty</source>
        <translation>Präsenzstrafe</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted once from tokens that have occurred</source>
        <translation>Wird einmal von Token abgezogen, die schon vorkamen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frequency penalty</source>
        <translation>Häufigkeitsstrafe</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted for each time that a token has occurred</source>
        <translation>Wird für jedes Vorkommen eines Tokens abgezogen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Penalty window</source>
        <translation>Strafen-Fenster</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The penalties cover this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>Die Strafen gelten für so viele der letzten Token; -1 für den ganzen Kontext, 0 für keine</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC threshold</source>
        <translation>XTC-Schwelle</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC excludes tokens at or above this probability</source>
        <translation>XTC schließt Token ab dieser Wahrscheinlichkeit aus</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY base</source>
        <translation>DRY-Basis</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How fast the DRY penalty grows with the repeated length</source>
        <translation>Wie schnell die DRY-Strafe mit der wiederholten Länge wächst</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY length</source>
        <translation>DRY-Länge</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; shorter passages may repeat</source>
        <translation>In Token; kürzere Passagen dürfen sich wiederholen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY window</source>
        <translation>DRY-Fenster</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY covers this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>DRY gilt für so viele der letzten Token; -1 für den ganzen Kontext, 0 für keine</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat</source>
        <translation>Mirostat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Version 1 or 2, which replaces the options that exclude tokens; 0 is off</source>
        <translation>Version 1 oder 2; ersetzt die Optionen, die Token ausschließen; 0 ist aus</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat tau</source>
        <translation>Mirostat-Tau</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How surprising each token should be, in bits</source>
        <translation>Wie überraschend jedes Token sein soll, in Bit</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat eta</source>
        <translation>Mirostat-Eta</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>How fast mirostat adapts</source>
        <translation>Wie schnell sich Mirostat anpasst</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>the model’s maximum</source>
        <translation>Maximum des Modells</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-13"/>
        <source>Sotto: Quick Prompt</source>
        <translation>Sotto: Schnellfrage</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-15"/>
        <source>Quick prompt</source>
        <translation>Schnellfrage</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Ask anything</source>
        <translation>Beliebige Frage stellen</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Use clipboard</source>
        <translation>Zwischenablage</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Insert the clipboard’s text or image</source>
        <translation>Text oder Bild aus der Zwischenablage einfügen</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+35"/>
        <source>Open in Sotto</source>
        <translation>In Sotto öffnen</translation>
    </message>
    <message>
        <location line="-35"/>
        <source>Continue in Sotto’s window</source>
        <translation>Im Fenster von Sotto fortsetzen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>Reset Position</source>
        <translation>Position zurücksetzen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>loading…</source>
        <translation>wird geladen&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ejecting…</source>
        <translation>wird entladen&#xa0;…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Model: {name}, {state}. Choose another one</source>
        <translation>Modell: {name}, {state}. Anderes wählen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Model: {name}. Choose another one</source>
        <translation>Modell: {name}. Anderes wählen</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>No model found</source>
        <translation>Kein Modell gefunden</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/quick/quick_prompt.py" line="+220"/>
        <source>1 character from the clipboard|{count} characters from the clipboard</source>
        <translation>
            <numerusform>1 Zeichen aus der Zwischenablage</numerusform>
            <numerusform>{count} Zeichen aus der Zwischenablage</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/api_switch.py" line="+128"/>
        <source>The API could not be started ({error}).</source>
        <translation>Die API konnte nicht gestartet werden ({error}).</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/model_library.py" line="+195"/>
        <source>The models could not be listed</source>
        <translation>Die Modelle konnten nicht aufgelistet werden</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{address} is not on this computer: download the model first, then drop its folder.</source>
        <translation>{address} ist nicht auf diesem Computer: zuerst das Modell herunterladen, dann seinen Ordner ablegen.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not on this computer</source>
        <translation>Nicht auf diesem Computer</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+231"/>
        <source>{name} could not be loaded</source>
        <translation>{name} konnte nicht geladen werden</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Load {names} from the list.</source>
        <translation>{names} bitte aus der Liste laden.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only one model was loaded</source>
        <translation>Nur ein Modell wurde geladen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Not everything was loaded</source>
        <translation>Nicht alles wurde geladen</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>The files of {model} are read and compared with their digests.</source>
        <translation>Die Dateien von {model} werden gelesen und mit ihren Prüfsummen verglichen.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Checking files</source>
        <translation>Dateien werden überprüft</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>{model} could not be checked</source>
        <translation>{model} konnte nicht überprüft werden</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} is damaged</source>
        <translation>{model} ist beschädigt</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No damage found</source>
        <translation>Keine Schäden gefunden</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>All files of {model} match their digests.</source>
        <translation>Alle Dateien von {model} entsprechen ihren Prüfsummen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/session.py" line="-228"/>
        <source>Choose or download a model; your message is kept.</source>
        <translation>Bitte ein Modell wählen oder herunterladen; die Nachricht bleibt erhalten.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No model is loaded</source>
        <translation>Kein Modell ist geladen</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>the model</source>
        <translation>das Modell</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>It was in {folder}, on a disk that is not connected.</source>
        <translation>Es war in {folder} auf einem Laufwerk, das nicht verbunden ist.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} is not there</source>
        <translation>{model} ist nicht vorhanden</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} cannot run here</source>
        <translation>{model} ist hier nicht lauffähig</translation>
    </message>
    <message>
        <location line="+195"/>
        <source>The engine stopped</source>
        <translation>Die Engine wurde beendet</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>This model has no chat template</source>
        <translation>Dieses Modell hat keine Chat-Vorlage</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The chat template ignores questions</source>
        <translation>Die Chat-Vorlage ignoriert Fragen</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{wanted} tokens were requested; the engine loaded {loaded}.</source>
        <translation>{wanted} Token wurden angefordert; die Engine hat {loaded} geladen.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The context is shorter than requested</source>
        <translation>Der Kontext ist kürzer als angefordert</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-42"/>
        <location line="+15"/>
        <source>Scroll with the answer</source>
        <translation>Mit der Antwort scrollen</translation>
    </message>
    <message>
        <location line="-11"/>
        <source>Instructions that models get before your messages</source>
        <translation>Anweisungen, die Modelle vor den Nachrichten erhalten</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Stops when the answer fills the window, or when you scroll.</source>
        <translation>Endet, wenn die Antwort das Fenster füllt, oder beim Scrollen.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Defaults for new chats</source>
        <translation>Standard für neue Chats</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much. No effect on models without it.</source>
        <translation>Ob und, falls einstellbar, wie viel das Modell vor der Antwort nachdenkt. Ohne Wirkung bei Modellen, die das nicht können.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Individual chats can override these.</source>
        <translation>Einzelne Chats können davon abweichen.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In tokens, up to the maximum of each model. If there is not enough memory, the model is not loaded and you see how many would fit. Applies from the next load.</source>
        <translation>In Token, bis zum Maximum des jeweiligen Modells. Reicht der Speicher nicht, wird das Modell nicht geladen, und Sotto zeigt, wie viele passen würden. Gilt ab dem nächsten Laden.</translation>
    </message>
    <message>
        <location line="+54"/>
        <source>The system prompt can have at most {most} characters; this one has {count} and is not used.</source>
        <translation>Der System-Prompt kann höchstens {most} Zeichen haben; dieser hat {count} und wird nicht verwendet.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="-121"/>
        <location line="+59"/>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <location line="-54"/>
        <source>The port that programs connect to</source>
        <translation>Der Port, mit dem sich Programme verbinden</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-8"/>
        <location line="+6"/>
        <location line="+27"/>
        <source>Local server</source>
        <translation>Lokaler Server</translation>
    </message>
    <message>
        <location line="+11"/>
        <location line="+20"/>
        <source>Let other programs use the models</source>
        <translation>Modelle für andere Programme freigeben</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-21"/>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+0"/>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <location line="-25"/>
        <location line="+31"/>
        <source>Web pages</source>
        <translation>Webseiten</translation>
    </message>
    <message>
        <location line="-30"/>
        <source>None</source>
        <comment>web pages</comment>
        <translation>Keine</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Generate a new key</source>
        <translation>Neuen Schlüssel erzeugen</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Copy the key</source>
        <translation>Schlüssel kopieren</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-6"/>
        <source>Copy the address</source>
        <translation>Adresse kopieren</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>{address} accepts only programs on this computer; any other address needs a key.</source>
        <translation>{address} lässt nur Programme auf diesem Computer zu; jede andere Adresse braucht einen Schlüssel.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Programs must send it. It can be empty if only this computer can connect.</source>
        <translation>Programme müssen ihn senden. Er kann leer sein, wenn sich nur dieser Computer verbinden kann.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Pages that may use the models, such as http://localhost:3000; others are refused.</source>
        <translation>Seiten, die die Modelle nutzen dürfen, etwa http://localhost:3000; andere werden abgelehnt.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Access</source>
        <translation>Zugriff</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Compatible with the Ollama, OpenAI and Anthropic APIs. Programs share the model in the window; their requests are not saved in your chats.</source>
        <translation>Kompatibel mit den APIs von Ollama, OpenAI und Anthropic. Programme teilen sich das Modell mit dem Fenster; ihre Anfragen werden nicht in den Chats gespeichert.</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>One moment…</source>
        <translation>Einen Moment&#xa0;…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Off: no program can connect.</source>
        <translation>Aus: Kein Programm kann sich verbinden.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Listening at {address}</source>
        <translation>Erreichbar unter {address}</translation>
    </message>
    <message>
        <location line="+31"/>
        <source>An address is a name or number of this machine, such as {example}, not {typed}.</source>
        <translation>Eine Adresse ist ein Name oder eine Nummer dieses Computers wie {example}, nicht {typed}.</translation>
    </message>
    <message>
        <location line="+27"/>
        <source>The pages can have at most {most} characters in total.</source>
        <translation>Die Seiten können zusammen höchstens {most} Zeichen haben.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/appearance_page.py" line="+15"/>
        <location line="+24"/>
        <location line="+8"/>
        <source>Text size</source>
        <translation>Textgröße</translation>
    </message>
    <message>
        <location line="-32"/>
        <source>In percent</source>
        <translation>In Prozent</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+7"/>
        <source>Appearance</source>
        <translation>Darstellung</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+23"/>
        <source>System</source>
        <translation>System</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Smaller text</source>
        <translation>Kleinerer Text</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger text</source>
        <translation>Größerer Text</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Light or dark</source>
        <translation>Hell oder dunkel</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>System follows the setting of your desktop.</source>
        <translation>„System“ folgt der Einstellung des Desktops.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Of the whole window; you can also change it in the View menu.</source>
        <translation>Im ganzen Fenster; auch im Menü „Ansicht“ änderbar.</translation>
    </message>
    <message>
        <location line="+5"/>
        <location line="+3"/>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="+52"/>
        <source>Takes effect after restart.</source>
        <translation>Gilt ab dem nächsten Start.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Animations follow the system’s reduced-motion setting.</source>
        <translation>Animationen richten sich nach der Systemeinstellung für reduzierte Bewegung.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="-15"/>
        <source>Your data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Delete all chats</source>
        <translation>Alle Chats löschen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete all?</source>
        <translation>Alle löschen?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete the prompt cache</source>
        <translation>Prompt-Cache löschen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete?</source>
        <translation>Löschen?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all settings</source>
        <translation>Alle Einstellungen zurücksetzen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all?</source>
        <translation>Alle zurücksetzen?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete all data</source>
        <translation>Alle Daten löschen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete everything?</source>
        <translation>Alles löschen?</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-224"/>
        <location line="+154"/>
        <source>Chats</source>
        <translation>Chats</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Everything</source>
        <translation>Alles</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>On this computer</source>
        <translation>Auf diesem Computer</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/settings/settings_window.py" line="+85"/>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Preferences, presets and the engine’s settings.</source>
        <translation>Optionen der App und der Engine, Voreinstellungen.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Deleted data cannot be restored. Models are not deleted.</source>
        <translation>Gelöschte Daten lassen sich nicht wiederherstellen. Modelle werden nicht gelöscht.</translation>
    </message>
    <message numerus="yes">
        <location line="+14"/>
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="+40"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="-198"/>
        <source>1 chat|{count} chats</source>
        <translation>
            <numerusform>1 Chat</numerusform>
            <numerusform>{count} Chats</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None</source>
        <comment>chats</comment>
        <translation>Keine</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty</source>
        <comment>prompt cache</comment>
        <translation>Leer</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Chats, prompt cache and settings: frees {size}.</source>
        <translation>Chats, Prompt-Cache und Einstellungen: gibt {size} frei.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_choices.py" line="+88"/>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="+128"/>
        <source>Not everything in {folder} could be removed; another Sotto may be using it: close that first.</source>
        <translation>Nicht alles in {folder} konnte entfernt werden; vielleicht verwendet es ein anderes Sotto: bitte dieses zuerst schließen.</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>The limit must be from {least} to the {total} that this machine has, not {size}.</source>
        <translation>Das Limit muss zwischen {least} und den {total} dieses Computers liegen, nicht bei {size}.</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>A speed is a number followed by K, M or G, for example 5 MB, not {typed}.</source>
        <translation>Eine Geschwindigkeit ist eine Zahl, gefolgt von K, M oder G, zum Beispiel 5&#xa0;MB, nicht {typed}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The speed must be from {least} to {most} a second, not {speed}.</source>
        <translation>Die Geschwindigkeit muss zwischen {least} und {most} pro Sekunde liegen, nicht bei {speed}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="-37"/>
        <source>In the app’s process, which is fastest. If the engine crashes, so does the app; your chats are saved.</source>
        <translation>Im Prozess der App, was am schnellsten ist. Stürzt die Engine ab, stürzt auch die App ab; die Chats sind gespeichert.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>In its own process: if it crashes, an answer ends but the app keeps running. It needs a little more memory, and ejecting a model frees all of it.</source>
        <translation>In einem eigenen Prozess: Stürzt sie ab, endet eine Antwort, aber die App läuft weiter. Braucht etwas mehr Speicher; beim Entladen eines Modells wird er vollständig frei.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>If it needs more, it is ended and the answer says so; the next question starts it again.</source>
        <translation>Braucht sie mehr, wird sie beendet, und die Antwort weist darauf hin; die nächste Frage startet sie wieder.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{variable} is set to {value} in the environment, which overrides this.</source>
        <translation>{variable} ist in der Umgebung auf {value} gesetzt und hat Vorrang.</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+7"/>
        <source>Engine</source>
        <translation>Engine</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>In the app</source>
        <translation>In der App</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Isolated</source>
        <translation>Isoliert</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Where models run</source>
        <translation>Wo Modelle laufen</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+4"/>
        <source>Memory limit of the isolated engine</source>
        <translation>Speicherlimit der isolierten Engine</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>No limit</source>
        <translation>Unbegrenzt</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-26"/>
        <source>Model folders</source>
        <translation>Modellordner</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Add Folder…</source>
        <translation>Ordner hinzufügen&#xa0;…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder</source>
        <translation>Ordner hinzufügen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Your folders</source>
        <translation>Eigene Ordner</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Searched automatically</source>
        <translation>Automatisch durchsucht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Other programs’ models are read in place and never changed, moved or deleted.</source>
        <translation>Modelle anderer Programme werden an Ort und Stelle gelesen und nie geändert, verschoben oder gelöscht.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+3"/>
        <source>Download speed</source>
        <translation>Download-Geschwindigkeit</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>Unlimited</source>
        <translation>Unbegrenzt</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>For all downloads together, per second. Applies immediately.</source>
        <translation>Für alle Downloads zusammen, pro Sekunde. Gilt sofort.</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>Folders that you add are searched, including their subfolders.</source>
        <translation>Hinzugefügte Ordner werden samt Unterordnern durchsucht.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>None yet</source>
        <translation>Noch keine</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not found</source>
        <translation>Nicht gefunden</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Remove folder {name}</source>
        <translation>Ordner {name} entfernen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop searching this folder</source>
        <translation>Diesen Ordner nicht mehr durchsuchen</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Add a folder with models</source>
        <translation>Ordner mit Modellen hinzufügen</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>No models</source>
        <translation>Keine Modelle</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-51"/>
        <location line="+44"/>
        <source>Unload when idle</source>
        <translation>Bei Leerlauf entladen</translation>
    </message>
    <message>
        <location line="-44"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-10"/>
        <source>In minutes</source>
        <translation>In Minuten</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Full</source>
        <translation>Voll</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>8 bits</source>
        <translation>8&#xa0;Bit</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits</source>
        <translation>4&#xa0;Bit</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>16 bits</source>
        <translation>16&#xa0;Bit</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Memory and cache</source>
        <translation>Speicher und Cache</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+4"/>
        <source>Memory limit</source>
        <translation>Speicherlimit</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Cache in memory</source>
        <translation>Cache im Speicher</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cache on disk</source>
        <translation>Cache auf der Festplatte</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+48"/>
        <source>Context precision</source>
        <translation>Kontextgenauigkeit</translation>
    </message>
    <message>
        <location line="-47"/>
        <source>Models and their contexts use no more than this.</source>
        <translation>Modelle und ihre Kontexte belegen nicht mehr als das.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In memory</source>
        <translation>Im Speicher</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How much of earlier prompts stays in memory, so that none is computed twice.</source>
        <translation>Wie viel von früheren Prompts im Speicher bleibt, damit nichts zweimal berechnet wird.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>On disk</source>
        <translation>Auf der Festplatte</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What no longer fits into memory moves there and survives restarts; 0 turns it off.</source>
        <translation>Was nicht mehr in den Speicher passt, kommt dorthin und übersteht Neustarts; 0 schaltet dies aus.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Delete the cache on disk</source>
        <translation>Cache auf der Festplatte löschen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>On disk now</source>
        <translation>Derzeit auf der Festplatte</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+30"/>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Unload after this many minutes idle (0 = never).</source>
        <translation>Nach so vielen Minuten Leerlauf entladen (0 = nie).</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+7"/>
        <source>Predict ahead</source>
        <translation>Vorausberechnen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Models that have a prediction head write faster with it, and take a little more memory.</source>
        <translation>Modelle mit eigenem Vorhersagekopf schreiben damit schneller und brauchen etwas mehr Speicher.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Fewer bits allow longer contexts, with slightly less accuracy.</source>
        <translation>Weniger Bits erlauben längere Kontexte bei etwas geringerer Genauigkeit.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Other changes apply when a model is loaded the next time.</source>
        <translation>Andere Änderungen gelten ab dem nächsten Laden eines Modells.</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>All free memory</source>
        <translation>Freier Speicher</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models and their contexts use no more than this. The machine has {size} of memory.</source>
        <translation>Modelle und ihre Kontexte belegen nicht mehr als das. Dieser Computer hat {size} Speicher.</translation>
    </message>
    <message numerus="yes">
        <location line="+9"/>
        <source>{size} in 1 entry, in {folder}|{size} in {count} entries, in {folder}</source>
        <translation>
            <numerusform>{size} in 1 Eintrag, in {folder}</numerusform>
            <numerusform>{size} in {count} Einträgen, in {folder}</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Nothing</source>
        <translation>Nichts</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/model_folders.py" line="+130"/>
        <source>{folder} is not a folder that can be read; choose the folder that contains your models.</source>
        <translation>{folder} ist kein lesbarer Ordner; bitte den Ordner wählen, der die Modelle enthält.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{folder} is already searched.</source>
        <translation>{folder} wird bereits durchsucht.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-30"/>
        <location line="+32"/>
        <source>New chat after</source>
        <translation>Neuer Chat nach</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Shortcut</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Start fresh if unused for this many minutes.</source>
        <translation>Beginnt neu nach so vielen Minuten ohne Nutzung.</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Launch at login</source>
        <translation>Beim Anmelden starten</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Without a window, so that the quick prompt opens at once.</source>
        <translation>Ohne Fenster, damit sich die Schnellfrage sofort öffnet.</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Keep in Dock</source>
        <translation>Im Dock behalten</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Otherwise, Sotto is only in the menu bar while its window is closed.</source>
        <translation>Sonst ist Sotto bei geschlossenem Fenster nur in der Menüleiste.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>The command sotto --toggle does the same; you can bind it to a shortcut in your desktop’s settings.</source>
        <translation>Der Befehl sotto --toggle bewirkt dasselbe; in den Einstellungen des Desktops lässt sich dafür ein Tastenkürzel festlegen.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Startup</source>
        <translation>Start</translation>
    </message>
    <message>
        <location line="+37"/>
        <source>{keys} shows and hides it anywhere.</source>
        <translation>{keys} blendet sie überall ein und aus.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Click to record</source>
        <translation>Zum Aufzeichnen klicken</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="-22"/>
        <source>The engine’s settings could not be reset: {reason}.</source>
        <translation>Die Einstellungen der Engine konnten nicht zurückgesetzt werden: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/memory_estimate.py" line="+84"/>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tight</source>
        <translation>Knapp</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Does not fit</source>
        <translation>Passt nicht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Unknown</source>
        <translation>Unbekannt</translation>
    </message>
    <message>
        <location line="+79"/>
        <source>It has not been checked yet.</source>
        <translation>Es wurde noch nicht geprüft.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its size is unknown.</source>
        <translation>Seine Größe ist unbekannt.</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>The amount of memory is unknown.</source>
        <translation>Die Größe des Speichers ist unbekannt.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="-41"/>
        <source>This model makes embeddings and cannot chat: use it with sotto embed, or through the API.</source>
        <translation>Dieses Modell erzeugt Embeddings und kann nicht chatten: bitte mit sotto embed oder über die API verwenden.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/wording.py" line="+41"/>
        <location line="+11"/>
        <location line="+10"/>
        <source>{seconds} s</source>
        <translation>{seconds}&#xa0;s</translation>
    </message>
    <message>
        <location line="-18"/>
        <source>{minutes} min</source>
        <translation>{minutes}&#xa0;min</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{hours} h {minutes} min</source>
        <translation>{hours}&#xa0;h {minutes}&#xa0;min</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{hours} h</source>
        <translation>{hours}&#xa0;h</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{minutes} min {seconds} s</source>
        <translation>{minutes}&#xa0;min {seconds}&#xa0;s</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{milliseconds} ms</source>
        <translation>{milliseconds}&#xa0;ms</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>just now</source>
        <translation>gerade eben</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{minutes} min ago</source>
        <translation>vor {minutes}&#xa0;min</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>1 hour ago|{count} hours ago</source>
        <translation>
            <numerusform>vor 1 Stunde</numerusform>
            <numerusform>vor {count} Stunden</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>yesterday</source>
        <translation>gestern</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{count} days ago</source>
        <translation>
            <numerusform>vor {count} Tag</numerusform>
            <numerusform>vor {count} Tagen</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/timing/debounced_file.py" line="+65"/>
        <source>{file} cannot be written: {reason}.</source>
        <translation>{file} kann nicht geschrieben werden: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/confirm_button.py" line="+46"/>
        <source>{action}: click again to confirm</source>
        <translation>{action}: zum Bestätigen noch einmal klicken</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/growing_text_edit.py" line="+49"/>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/notice.py" line="+57"/>
        <location line="+51"/>
        <source>Do it</source>
        <translation>Ausführen</translation>
    </message>
    <message>
        <location line="-49"/>
        <source>Dismiss</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number.py" line="+55"/>
        <source>set here</source>
        <translation>hier gesetzt</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from the model</source>
        <translation>vom Modell</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>default</source>
        <translation>Standard</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number_field.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Clear</source>
        <translation>Leeren</translation>
    </message>
    <message>
        <location line="+64"/>
        <source>{title} must be a number from {least} to {most}, not {typed}.</source>
        <translation>{title} muss eine Zahl von {least} bis {most} sein, nicht {typed}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title} must be a whole number from {least} to {most}, not {typed}.</source>
        <translation>{title} muss eine ganze Zahl von {least} bis {most} sein, nicht {typed}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/paged_window.py" line="+44"/>
        <source>{title} pages</source>
        <translation>Seiten: {title}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/pane.py" line="+25"/>
        <source>Show sidebar</source>
        <translation>Seitenleiste anzeigen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/section_title.py" line="+34"/>
        <source>{title}, expanded</source>
        <translation>{title}, ausgeklappt</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Collapse</source>
        <translation>Einklappen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title}, collapsed</source>
        <translation>{title}, eingeklappt</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Expand</source>
        <translation>Ausklappen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="-151"/>
        <source>Copy answer</source>
        <translation>Antwort kopieren</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answer by {model}</source>
        <translation>Antwort von {model}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+2"/>
        <source>Regenerate</source>
        <translation>Neu generieren</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Regenerate and keep this answer</source>
        <translation>Neu generieren und diese Antwort behalten</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Try another model</source>
        <translation>Anderes Modell versuchen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Continue answer</source>
        <translation>Antwort fortsetzen</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+4"/>
        <source>Continue</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <location line="+88"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+2"/>
        <source>Answering…</source>
        <translation>Antwortet&#xa0;…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="-251"/>
        <source>Whole Document</source>
        <translation>Ganzes Dokument</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the Beginning</source>
        <translation>Nur den Anfang</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the End</source>
        <translation>Nur das Ende</translation>
    </message>
    <message>
        <location line="+63"/>
        <source>Choose what is sent of {name}</source>
        <translation>Wählen, was von {name} gesendet wird</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose what is sent</source>
        <translation>Wählen, was gesendet wird</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Attached: {name}, {details}</source>
        <translation>Angehängt: {name}, {details}</translation>
    </message>
    <message>
        <location line="+118"/>
        <source>Reading…</source>
        <translation>Wird gelesen&#xa0;…</translation>
    </message>
    <message>
        <location line="+62"/>
        <source>first {percent} %</source>
        <translation>erste {percent}&#xa0;%</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>last {percent} %</source>
        <translation>letzte {percent}&#xa0;%</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{percent} % of it</source>
        <translation>{percent}&#xa0;% davon</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/collapsible_parts.py" line="+116"/>
        <source>Show thoughts</source>
        <translation>Gedanken anzeigen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide thoughts</source>
        <translation>Gedanken ausblenden</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Thoughts</source>
        <translation>Gedanken</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Thinking…</source>
        <translation>Denkt nach&#xa0;…</translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Show arguments</source>
        <translation>Argumente anzeigen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide arguments</source>
        <translation>Argumente ausblenden</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Arguments</source>
        <translation>Argumente</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choosing a tool…</source>
        <translation>Tool wird gewählt&#xa0;…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Newest thoughts</source>
        <translation>Neueste Gedanken</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/find_bar.py" line="+52"/>
        <source>Find in this chat</source>
        <translation>In diesem Chat suchen</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Previous match</source>
        <translation>Voriger Treffer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous match (Enter)</source>
        <translation>Voriger Treffer (Eingabe)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next match</source>
        <translation>Nächster Treffer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Next match (Shift+Enter)</source>
        <translation>Nächster Treffer (Umschalt+Eingabe)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Close find bar</source>
        <translation>Suchleiste schließen</translation>
    </message>
    <message>
        <location line="+53"/>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{number} of {count}</source>
        <translation>{number} von {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/jump_to_latest.py" line="+20"/>
        <location line="+13"/>
        <source>Jump to latest</source>
        <translation>Zum Neuesten springen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Jump to latest, answer in progress</source>
        <translation>Zum Neuesten springen, Antwort läuft</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="-7"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-54"/>
        <source>Edit message</source>
        <translation>Nachricht bearbeiten</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Edit answer</source>
        <translation>Antwort bearbeiten</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Previous version is kept</source>
        <translation>Vorige Version bleibt erhalten</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Wait for the end of the answer</source>
        <translation>Bitte das Ende der Antwort abwarten</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="-21"/>
        <source>Delete Answer</source>
        <translation>Antwort löschen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Delete Question</source>
        <translation>Frage löschen</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Delete Question and Answer|Delete Question and Answers</source>
        <translation>
            <numerusform>Frage und Antwort löschen</numerusform>
            <numerusform>Frage und Antworten löschen</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Copy Selection</source>
        <translation>Auswahl kopieren</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+131"/>
        <source>Copy Link</source>
        <translation>Link kopieren</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Try Another Model…</source>
        <translation>Anderes Modell versuchen&#xa0;…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Get an Answer</source>
        <translation>Antwort anfordern</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Edit…</source>
        <translation>Bearbeiten&#xa0;…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Branch From Here</source>
        <translation>Ab hier verzweigen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Markdown</source>
        <translation>Markdown anzeigen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+2"/>
        <source>More actions</source>
        <translation>Weitere Aktionen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/notices.py" line="+86"/>
        <source>In another chat.</source>
        <translation>In einem anderen Chat.</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+11"/>
        <source>Open chat</source>
        <translation>Chat öffnen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/transcript.py" line="+62"/>
        <source>Conversation</source>
        <translation>Unterhaltung</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-18"/>
        <source>Copy message</source>
        <translation>Nachricht kopieren</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your message</source>
        <translation>Eigene Nachricht</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Show more</source>
        <translation>Mehr anzeigen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Show more of this message</source>
        <translation>Mehr von dieser Nachricht anzeigen</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Get an answer</source>
        <translation>Antwort anfordern</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/version_switch.py" line="+24"/>
        <source>Previous version</source>
        <translation>Vorige Version</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next version</source>
        <translation>Nächste Version</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Version {number} of {count}</source>
        <translation>Version {number} von {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-136"/>
        <source>Not printed</source>
        <translation>Nicht gedruckt</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/pictures/chat_images.py" line="+117"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+99"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="+156"/>
        <source>{file} could not be written: {reason}.</source>
        <translation>{file} konnte nicht geschrieben werden: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-133"/>
        <location line="+93"/>
        <source>Nothing was exported</source>
        <translation>Es wurde nichts exportiert</translation>
    </message>
    <message>
        <location line="-98"/>
        <source>Chats as {form}</source>
        <translation>Chats als {form}</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>There are no chats yet.</source>
        <translation>Es gibt noch keine Chats.</translation>
    </message>
    <message>
        <location line="+144"/>
        <source>The chat is no longer there, so it was not exported.</source>
        <translation>Den Chat gibt es nicht mehr, daher wurde er nicht exportiert.</translation>
    </message>
    <message>
        <location line="+13"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-5"/>
        <source>You</source>
        <translation>Ich</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="-40"/>
        <location line="+30"/>
        <source>Nothing was imported</source>
        <translation>Es wurde nichts importiert</translation>
    </message>
    <message>
        <location line="+60"/>
        <source>The chats could not be added.</source>
        <translation>Die Chats konnten nicht hinzugefügt werden.</translation>
    </message>
    <message numerus="yes">
        <location line="-11"/>
        <source>{added} of 1 chat added|{added} of {count} chats added</source>
        <translation>
            <numerusform>{added} von 1 Chat hinzugefügt</numerusform>
            <numerusform>{added} von {count} Chats hinzugefügt</numerusform>
        </translation>
    </message>
    <message>
        <location line="-51"/>
        <source>Not everything was imported</source>
        <translation>Nicht alles wurde importiert</translation>
    </message>
    <message numerus="yes">
        <location line="+54"/>
        <source>1 chat read|{count} chats read</source>
        <translation>
            <numerusform>1 Chat gelesen</numerusform>
            <numerusform>{count} Chats gelesen</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Opening the files</source>
        <translation>Dateien werden geöffnet</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+33"/>
        <source>1 character|{count} characters</source>
        <translation>
            <numerusform>1 Zeichen</numerusform>
            <numerusform>{count} Zeichen</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Attached: {file}</source>
        <translation>Angehängt: {file}</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="-18"/>
        <source>Imported 1 chat.|Imported {count} chats.</source>
        <translation>
            <numerusform>1 Chat importiert.</numerusform>
            <numerusform>{count} Chats importiert.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+13"/>
        <source>1 chat got new messages.|{count} chats got new messages.</source>
        <translation>
            <numerusform>1 Chat hat neue Nachrichten erhalten.</numerusform>
            <numerusform>{count} Chats haben neue Nachrichten erhalten.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="-9"/>
        <source>1 chat was already here.|{count} chats were already here.</source>
        <translation>
            <numerusform>1 Chat war bereits vorhanden.</numerusform>
            <numerusform>{count} Chats waren bereits vorhanden.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{things} could not be read.</source>
        <translation>Nicht lesbar: {things}.</translation>
    </message>
    <message numerus="yes">
        <location line="+12"/>
        <source>1 message|{count} messages</source>
        <translation>
            <numerusform>1 Nachricht</numerusform>
            <numerusform>{count} Nachrichten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 image|{count} images</source>
        <translation>
            <numerusform>1 Bild</numerusform>
            <numerusform>{count} Bilder</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 recording|{count} recordings</source>
        <translation>
            <numerusform>1 Aufnahme</numerusform>
            <numerusform>{count} Aufnahmen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 file|{count} files</source>
        <translation>
            <numerusform>1 Datei</numerusform>
            <numerusform>{count} Dateien</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 tool call|{count} tool calls</source>
        <translation>
            <numerusform>1 Tool-Aufruf</numerusform>
            <numerusform>{count} Tool-Aufrufe</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 unknown part|{count} unknown parts</source>
        <translation>
            <numerusform>1 unbekannter Teil</numerusform>
            <numerusform>{count} unbekannte Teile</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/paper.py" line="+120"/>
        <source>The printer could not be used: choose another one, or print to a file.</source>
        <translation>Der Drucker konnte nicht verwendet werden: bitte einen anderen wählen oder in eine Datei drucken.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/about.py" line="+27"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+12"/>
        <source>About Sotto</source>
        <translation>Über Sotto</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-3"/>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Version {version}</source>
        <translation>Version {version}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Runs language models on your computer</source>
        <translation>Führt Sprachmodelle auf diesem Computer aus</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>MIT licence</source>
        <translation>MIT-Lizenz</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="-192"/>
        <source>Importing chats</source>
        <translation>Chats werden importiert</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Import complete</source>
        <translation>Import abgeschlossen</translation>
    </message>
    <message>
        <location line="+59"/>
        <source>Exported chats</source>
        <translation>Exportierte Chats</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+0"/>
        <source>All files</source>
        <translation>Alle Dateien</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import chats</source>
        <translation>Chats importieren</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Import a folder of chats</source>
        <translation>Ordner mit Chats importieren</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Nothing to export</source>
        <translation>Nichts zu exportieren</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+33"/>
        <source>This chat has no messages yet.</source>
        <translation>Dieser Chat hat noch keine Nachrichten.</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Export as {form}</source>
        <translation>Als {form} exportieren</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Export all chats</source>
        <translation>Alle Chats exportieren</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choose where to put the folder of chats</source>
        <translation>Speicherort für den Ordner mit Chats</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Nothing to print</source>
        <translation>Nichts zu drucken</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Exporting</source>
        <translation>Wird exportiert</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Long chats take a moment.</source>
        <translation>Lange Chats brauchen einen Moment.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{written} of {count} chats written</source>
        <translation>{written} von {count} Chats geschrieben</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Exported</source>
        <translation>Exportiert</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>Written to {path}.</source>
        <translation>Gespeichert unter {path}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show folder</source>
        <translation>Ordner anzeigen</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Export cancelled</source>
        <translation>Export abgebrochen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was written.</source>
        <translation>Es wurde nichts geschrieben.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Printed</source>
        <translation>Gedruckt</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Import cancelled</source>
        <translation>Import abgebrochen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was imported.</source>
        <translation>Es wurde nichts importiert.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="-25"/>
        <source>Switch model</source>
        <translation>Modell wechseln</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>New chat</source>
        <translation>Neuer Chat</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Start a new chat</source>
        <translation>Neuen Chat beginnen</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Switch to {model}</source>
        <translation>Zu {model} wechseln</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} answered last in this chat</source>
        <translation>{model} hat in diesem Chat zuletzt geantwortet</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Choose another model</source>
        <translation>Anderes Modell wählen</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Model: {name}</source>
        <translation>Modell: {name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-284"/>
        <source>Archive</source>
        <translation>Archiv</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Trash</source>
        <translation>Papierkorb</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your chats appear here.</source>
        <translation>Hier erscheinen die Chats.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No archived chats.</source>
        <translation>Keine archivierten Chats.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The trash is empty. Chats in it are deleted after 30 days.</source>
        <translation>Der Papierkorb ist leer. Chats darin werden nach 30 Tagen gelöscht.</translation>
    </message>
    <message>
        <location line="+167"/>
        <source>Choose which chats are listed, or make a folder</source>
        <translation>Aufgelistete Chats wählen oder Ordner anlegen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Chats, archive, trash, folders</source>
        <translation>Chats, Archiv, Papierkorb, Ordner</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Empty…</source>
        <translation>Leeren&#xa0;…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Empty the trash</source>
        <translation>Papierkorb leeren</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Back to chats</source>
        <translation>Zurück zu den Chats</translation>
    </message>
    <message>
        <location line="+81"/>
        <source>Restore</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete for Good…</source>
        <translation>Endgültig löschen&#xa0;…</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unpin</source>
        <translation>Lösen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Unarchive</source>
        <translation>Aus Archiv holen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Archive</source>
        <comment>move to the archive</comment>
        <translation>Archivieren</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Export</source>
        <translation>Exportieren</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-54"/>
        <source>Print…</source>
        <translation>Drucken&#xa0;…</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Trash</source>
        <translation>In den Papierkorb legen</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-44"/>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Delete Folder but Keep Chats</source>
        <translation>Ordner löschen, Chats behalten</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Folder</source>
        <translation>In Ordner verschieben</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No Folder</source>
        <translation>Kein Ordner</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>New Folder…</source>
        <translation>Neuer Ordner&#xa0;…</translation>
    </message>
    <message>
        <location line="+51"/>
        <source>New Folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+27"/>
        <source>Folder {name}, {chats}, closed</source>
        <translation>Ordner {name}, {chats}, geschlossen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Folder {name}, {chats}, open</source>
        <translation>Ordner {name}, {chats}, geöffnet</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>pinned</source>
        <translation>angeheftet</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>in a folder</source>
        <translation>in einem Ordner</translation>
    </message>
    <message>
        <location line="+49"/>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Previous 7 days</source>
        <translation>Letzte 7 Tage</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{month} {year}</source>
        <translation>{month} {year}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+50"/>
        <source>Shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Help</source>
        <translation>Hilfe</translation>
    </message>
    <message>
        <location line="+55"/>
        <source>Send the message</source>
        <translation>Nachricht senden</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+3"/>
        <source>Enter</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>New line in a message</source>
        <translation>Neue Zeile in einer Nachricht</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Shift+Enter</source>
        <translation>Umschalt+Eingabe</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Enter, Shift+Enter</source>
        <translation>Eingabe, Umschalt+Eingabe</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous and next match while searching in a chat</source>
        <translation>Voriger und nächster Treffer bei der Suche im Chat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Load the selected model</source>
        <translation>Ausgewähltes Modell laden</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rename the selected chat</source>
        <translation>Ausgewählten Chat umbenennen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Action</source>
        <translation>Aktion</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{part} (in {library})</source>
        <translation>{part} (in {library})</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>see its package</source>
        <translation>siehe Paket</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Qt and PySide6 are used under the LGPL, version 3. They are libraries of their own, whose files can be replaced by changed ones. Their source is at {address}.</source>
        <translation>Qt und PySide6 werden unter der LGPL, Version 3, verwendet. Sie sind eigenständige Bibliotheken, deren Dateien durch veränderte ersetzt werden können. Ihr Quelltext ist auf {address}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Sotto is under the MIT licence. It uses:</source>
        <translation>Sotto steht unter der MIT-Lizenz. Es verwendet:</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Package</source>
        <translation>Paket</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-5"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+8"/>
        <source>All licences</source>
        <translation>Alle Lizenzen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-1"/>
        <source>Open this link in your browser?</source>
        <translation>Diesen Link im Browser öffnen?</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Writing a summary</source>
        <translation>Zusammenfassung wird geschrieben</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>A new chat will start with it.</source>
        <translation>Ein neuer Chat beginnt damit.</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Moved to the trash</source>
        <translation>In den Papierkorb gelegt</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Delete “{title}” for good?</source>
        <translation>„{title}“ endgültig löschen?</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This cannot be undone.</source>
        <translation>Dies lässt sich nicht rückgängig machen.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Its chats are deleted for good.</source>
        <translation>Die Chats darin werden endgültig gelöscht.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty</source>
        <comment>empty the trash</comment>
        <translation>Leeren</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty the trash?</source>
        <translation>Papierkorb leeren?</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Folder deleted</source>
        <translation>Ordner gelöscht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The chats in “{folder}” are still in the list.</source>
        <translation>Die Chats aus „{folder}“ sind weiterhin in der Liste.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>About your chats</source>
        <translation>Hinweis zu den Chats</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not saved</source>
        <translation>Nicht gespeichert</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-73"/>
        <source>&amp;File</source>
        <translation>&amp;Datei</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>New Chat Folder</source>
        <translation>Neuer Chat-Ordner</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model…</source>
        <translation>Modell öffnen&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model Folder…</source>
        <translation>Modellordner öffnen&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add Model Folder…</source>
        <translation>Modellordner hinzufügen&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model…</source>
        <translation>Modell holen&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model by Name…</source>
        <translation>Modell nach Namen holen&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Manage Models…</source>
        <translation>Modelle verwalten&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rescan Models</source>
        <translation>Modelle neu suchen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Attach Files…</source>
        <translation>Dateien anhängen&#xa0;…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Import Chats…</source>
        <translation>Chats importieren&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import Chat Folder…</source>
        <translation>Chat-Ordner importieren&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Export Chat</source>
        <translation>Chat exportieren</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Export All Chats</source>
        <translation>Alle Chats exportieren</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Export All as {form}…</source>
        <translation>Alle als {form} exportieren&#xa0;…</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+3"/>
        <source>Settings…</source>
        <translation>Einstellungen&#xa0;…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Close Window</source>
        <translation>Fenster schließen</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>&amp;Edit</source>
        <translation>&amp;Bearbeiten</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cut</source>
        <translation>Ausschneiden</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Paste</source>
        <translation>Einfügen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Select All</source>
        <translation>Alles auswählen</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Find in Chat</source>
        <translation>Im Chat suchen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Search Chats and Models</source>
        <translation>Chats und Modelle durchsuchen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Go to Models</source>
        <translation>Zu den Modellen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>&amp;View</source>
        <translation>&amp;Ansicht</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger Text</source>
        <translation>Größerer Text</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Smaller Text</source>
        <translation>Kleinerer Text</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Normal Text</source>
        <translation>Normaler Text</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Sidebar</source>
        <translation>Seitenleiste</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Command Palette</source>
        <translation>Befehlspalette</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Chat Settings</source>
        <translation>Chat-Einstellungen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Local Server</source>
        <translation>Lokaler Server</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>&amp;Help</source>
        <translation>&amp;Hilfe</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto Help</source>
        <translation>Sotto-Hilfe</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Report</source>
        <translation>Bericht kopieren</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Logs</source>
        <translation>Protokolle anzeigen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Check for Updates…</source>
        <translation>Nach Updates suchen …</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Export as {form}…</source>
        <translation>Als {form} exportieren&#xa0;…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/message_commands.py" line="+110"/>
        <source>Question deleted</source>
        <translation>Frage gelöscht</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Question and answer deleted|Question and {count} answers deleted</source>
        <translation>
            <numerusform>Frage und Antwort gelöscht</numerusform>
            <numerusform>Frage und {count} Antworten gelöscht</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Answer deleted|{count} answers deleted</source>
        <translation>
            <numerusform>Antwort gelöscht</numerusform>
            <numerusform>{count} Antworten gelöscht</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The messages that follow are kept.</source>
        <translation>Die folgenden Nachrichten bleiben erhalten.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-1"/>
        <source>Working</source>
        <translation>Arbeitet</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Reading</source>
        <translation>Liest</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Writing</source>
        <translation>Schreibt</translation>
    </message>
    <message>
        <location line="+92"/>
        <source>Cancelled</source>
        <translation>Abgebrochen</translation>
    </message>
    <message numerus="yes">
        <location line="+20"/>
        <source>{read} → 1 token|{read} → {written} tokens</source>
        <translation>
            <numerusform>{read} → 1 Token</numerusform>
            <numerusform>{read} → {written} Token</numerusform>
        </translation>
    </message>
    <message>
        <location line="+67"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+30"/>
        <source>Requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-38"/>
        <location line="+117"/>
        <source>Show the key</source>
        <translation>Schlüssel anzeigen</translation>
    </message>
    <message>
        <location line="-112"/>
        <source>Clear the requests</source>
        <translation>Liste der Anfragen leeren</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No requests yet</source>
        <translation>Noch keine Anfragen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Settings of the local server</source>
        <translation>Einstellungen des lokalen Servers</translation>
    </message>
    <message>
        <location line="+85"/>
        <source>Other programs can use your models while it is on.</source>
        <translation>Andere Programme können die Modelle nutzen, solange er eingeschaltet ist.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Starting…</source>
        <translation>Startet&#xa0;…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Hidden</source>
        <translation>Ausgeblendet</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide the key</source>
        <translation>Schlüssel ausblenden</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_status.py" line="+41"/>
        <source>Server off</source>
        <translation>Server aus</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server could not start</source>
        <translation>Serverstart fehlgeschlagen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server on :{port}</source>
        <translation>Server ein: Port {port}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server starting…</source>
        <translation>Server startet&#xa0;…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 request|{count} requests</source>
        <translation>
            <numerusform>1 Anfrage</numerusform>
            <numerusform>{count} Anfragen</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/sidebar.py" line="+55"/>
        <source>Search chats and models</source>
        <translation>Chats und Modelle durchsuchen</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Hide sidebar</source>
        <translation>Seitenleiste ausblenden</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/welcome.py" line="+22"/>
        <source>Explain how a rainbow forms, in three sentences.</source>
        <translation>Erkläre in drei Sätzen, wie ein Regenbogen entsteht.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Suggest a name for a small sailing boat.</source>
        <translation>Schlage einen Namen für ein kleines Segelboot vor.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What makes bread rise?</source>
        <translation>Warum geht Brot auf?</translation>
    </message>
    <message>
        <location line="+83"/>
        <source>Welcome to Sotto</source>
        <translation>Willkommen bei Sotto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose a model in the list to chat with it. Nothing you write leaves your computer.</source>
        <translation>Zum Chatten ein Modell in der Liste wählen. Was hier geschrieben wird, bleibt auf diesem Computer.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Ask about Sotto</source>
        <translation>Fragen zu Sotto</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Ask {model}</source>
        <translation>{model} fragen</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The model is loading. You can start writing.</source>
        <translation>Das Modell wird geladen. Schreiben ist schon möglich.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>I’m the small model that comes with Sotto.</source>
        <translation>Ich bin das kleine Modell, das mit Sotto geliefert wird.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It runs on your computer.</source>
        <translation>Es läuft auf diesem Computer.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Ask: {question}</source>
        <translation>Fragen: {question}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+1"/>
        <source>Open model</source>
        <translation>Modell öffnen</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Open model folder</source>
        <translation>Modellordner öffnen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/file_names.py" line="+22"/>
        <source>chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="-1"/>
        <source>That was when you last used it. Your chats are saved.</source>
        <translation>Das war bei der letzten Verwendung. Ihre Chats sind gespeichert.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>This error keeps it from running. Your chats are saved.</source>
        <translation>Dieser Fehler verhindert es. Ihre Chats sind gespeichert.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto cannot start</source>
        <translation>Sotto kann nicht starten</translation>
    </message>
    <message>
        <location line="+39"/>
        <source>An error occurred in Sotto. Your chats are saved, and you can go on.</source>
        <translation>In Sotto ist ein Fehler aufgetreten. Ihre Chats sind gespeichert, und Sie können weitermachen.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Something went wrong</source>
        <translation>Etwas ist schiefgegangen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/bug_report.py" line="+41"/>
        <source>Writing a report</source>
        <translation>Bericht wird geschrieben</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It has no messages, keys or names of chats.</source>
        <translation>Er enthält keine Nachrichten, Schlüssel oder Namen von Chats.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Report copied</source>
        <translation>Bericht kopiert</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Paste it into your bug report.</source>
        <translation>Fügen Sie ihn in Ihre Fehlermeldung ein.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_portal.py" line="+24"/>
        <source>The desktop did not change whether Sotto starts at login.</source>
        <translation>Die Arbeitsumgebung hat nicht geändert, ob Sotto beim Anmelden startet.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The quick prompt is there at once.</source>
        <translation>Die Schnellfrage ist sofort da.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/address_opener.py" line="+50"/>
        <source>Address not opened</source>
        <translation>Adresse nicht geöffnet</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Add this text to your draft?</source>
        <translation>Diesen Text an Ihren Entwurf anfügen?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add</source>
        <comment>to the draft</comment>
        <translation>Anfügen</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>There is no chat with the number {number}.</source>
        <translation>Es gibt keinen Chat mit der Nummer {number}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/own_addresses.py" line="+71"/>
        <source>The address is longer than {count} characters, so it is not opened.</source>
        <translation>Die Adresse ist länger als {count} Zeichen und wird deshalb nicht geöffnet.</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Sotto opens sotto://model/NAME, sotto://chat/NUMBER and sotto://ask?text=TEXT, not {address}.</source>
        <translation>Sotto öffnet sotto://model/NAME, sotto://chat/NUMMER und sotto://ask?text=TEXT, nicht {address}.</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>The address is not opened, because it is not encoded as UTF-8 text.</source>
        <translation>Die Adresse wird nicht geöffnet, weil sie nicht als UTF-8-Text kodiert ist.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The address is not opened, because it holds characters that cannot be seen.</source>
        <translation>Die Adresse wird nicht geöffnet, weil sie unsichtbare Zeichen enthält.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="-9"/>
        <source>Sotto {version} is available</source>
        <translation>Sotto {version} ist verfügbar</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>What is new</source>
        <translation>Was ist neu</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Look for new versions once a day?</source>
        <translation>Einmal am Tag nach neuen Versionen suchen?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto then reads a list from one address; nothing about you is sent, and nothing is installed.</source>
        <translation>Sotto liest dann eine Liste von einer Adresse; nichts über Sie wird gesendet und nichts installiert.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/updates_page.py" line="+26"/>
        <source>Updates</source>
        <translation>Updates</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+11"/>
        <source>Look for new versions</source>
        <translation>Nach neuen Versionen suchen</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>Check now</source>
        <translation>Jetzt suchen</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Once a day, Sotto reads a signed list from {address}, which learns your network address and nothing else; it downloads and installs nothing.</source>
        <translation>Einmal am Tag liest Sotto eine signierte Liste von {address}, wobei dort Ihre Netzwerkadresse und sonst nichts bekannt wird; heruntergeladen oder installiert wird nichts.</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Open download page</source>
        <translation>Downloadseite öffnen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>How to get it</source>
        <translation>So bekommen Sie sie</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>This build cannot look for new versions, because it has no key to check them with.</source>
        <translation>Diese Ausgabe kann nicht nach neuen Versionen suchen, weil sie keinen Schlüssel hat, um sie zu prüfen.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Looking…</source>
        <translation>Wird gesucht …</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Version {version} is available.</source>
        <translation>Version {version} ist verfügbar.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This is the newest version.</source>
        <translation>Das ist die neueste Version.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Not looked for yet.</source>
        <translation>Noch nicht gesucht.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last looked for {ago}.</source>
        <translation>Zuletzt gesucht: {ago}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/updating/release_advice.py" line="+9"/>
        <source>Sotto belongs to your system’s packages: install the new one with the software centre, or with “sudo apt install ./sotto_{version}_….deb”.</source>
        <translation>Sotto gehört zu den Paketen Ihres Systems: Installieren Sie das neue mit der Softwareverwaltung oder mit „sudo apt install ./sotto_{version}_….deb“.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Update Sotto in the software centre, or with “flatpak update {program}”.</source>
        <translation>Aktualisieren Sie Sotto in der Softwareverwaltung oder mit „flatpak update {program}“.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a checkout of its sources: “git pull” brings the new version.</source>
        <translation>Dieses Sotto läuft aus seinen Quellen: „git pull“ holt die neue Version.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a Python package: install the new wheel in the same environment.</source>
        <translation>Dieses Sotto ist ein Python-Paket: Installieren Sie das neue Wheel in derselben Umgebung.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Download the new AppImage, and put it in the place of this one.</source>
        <translation>Laden Sie das neue AppImage herunter und ersetzen Sie dieses damit.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and put its folder in the place of this one.</source>
        <translation>Laden Sie die neue Version herunter, beenden Sie Sotto und ersetzen Sie den Ordner durch den neuen.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and drag it over this one.</source>
        <translation>Laden Sie die neue Version herunter, beenden Sie Sotto und ziehen Sie sie über diese.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customizing.py" line="+74"/>
        <source>{name} cannot be customized</source>
        <translation>{name} kann nicht angepasst werden</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Customize {name}</source>
        <translation>{name} anpassen</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>There is one of this name; it will be replaced.</source>
        <translation>Eines mit diesem Namen gibt es schon; es wird ersetzt.</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Hello! Who are you?</source>
        <translation>Hallo! Wer bist du?</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>I am here to help.</source>
        <translation>Ich bin da, um zu helfen.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>What is the capital of France?</source>
        <translation>Was ist die Hauptstadt von Frankreich?</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Creating…</source>
        <translation>Wird erstellt …</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>{name} was created</source>
        <translation>{name} wurde erstellt</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>Its weights were copied from {name}.</source>
        <translation>Seine Gewichte wurden von {name} kopiert.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It shares its weights with {name}.</source>
        <translation>Seine Gewichte teilt es mit {name}.</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Copying… {share}</source>
        <translation>Wird kopiert … {share}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="-110"/>
        <source>Rename {name}</source>
        <translation>{name} umbenennen</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-4"/>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Duplicate {name}</source>
        <translation>{name} duplizieren</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Both share their files, so that the copy takes up no space.</source>
        <translation>Beide teilen sich ihre Dateien, sodass die Kopie keinen Platz belegt.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Duplicate</source>
        <translation>Duplizieren</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep a copy of {name}</source>
        <translation>Eine Kopie von {name} behalten</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The copy stays when {program} deletes the model. Where the disk can share files, it takes up no space: either as a clone, or as a link, which is one file with two names.</source>
        <translation>Die Kopie bleibt, wenn {program} das Modell löscht. Wo die Festplatte Dateien teilen kann, belegt sie keinen Platz: als Klon oder als Link, also als eine Datei mit zwei Namen.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep</source>
        <comment>keep a copy of a model</comment>
        <translation>Behalten</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>{name} was duplicated</source>
        <translation>{name} wurde dupliziert</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is kept</source>
        <translation>{name} bleibt erhalten</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>{name} was renamed</source>
        <translation>{name} wurde umbenannt</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>{size} shared with {program}</source>
        <translation>{size} mit {program} geteilt</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} copied</source>
        <translation>{size} kopiert</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_controller.py" line="+144"/>
        <source>Looking at its files…</source>
        <translation>Die Dateien werden angesehen&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its owner must allow the download first.</source>
        <translation>Der Eigentümer muss das Herunterladen erst erlauben.</translation>
    </message>
    <message>
        <location line="+65"/>
        <source>What you type here is sent to {host}.</source>
        <translation>Was hier eingegeben wird, geht an {host}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Searching…</source>
        <translation>Suche läuft&#xa0;…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Nothing was found there.</source>
        <translation>Dort wurde nichts gefunden.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="-134"/>
        <source>Models to download</source>
        <translation>Modelle zum Herunterladen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="-35"/>
        <source>Folder…</source>
        <translation>Ordner …</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>GGUF file…</source>
        <translation>GGUF-Datei …</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>GGUF files</source>
        <translation>GGUF-Dateien</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-48"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-216"/>
        <source>Import a model</source>
        <translation>Modell importieren</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is being imported already; choose another name.</source>
        <translation>{name} wird schon importiert; wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="-62"/>
        <source>Preparing the import</source>
        <translation>Import wird vorbereitet</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Importing</source>
        <translation>Wird importiert</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Measuring the quality</source>
        <translation>Qualität wird gemessen</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>{name} could not be imported</source>
        <translation>{name} konnte nicht importiert werden</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It takes {size}.</source>
        <translation>Es belegt {size}.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Perplexity {before} → {after}, KL divergence {divergence}, the same token in {share} %.</source>
        <translation>Perplexität {before} → {after}, KL-Divergenz {divergence}, dasselbe Token in {share} %.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-1"/>
        <source>Cancel the import of {name}</source>
        <translation>Import von {name} abbrechen</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Imported</source>
        <translation>Importiert</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>Resume the import of {name}</source>
        <translation>Import von {name} fortsetzen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pause the import of {name}</source>
        <translation>Import von {name} anhalten</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Imports</source>
        <translation>Importe</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-40"/>
        <source>Import {name}</source>
        <translation>{name} importieren</translation>
    </message>
    <message>
        <location line="+10"/>
        <location line="+34"/>
        <source>Quantization</source>
        <translation>Quantisierung</translation>
    </message>
    <message>
        <location line="-31"/>
        <location line="+32"/>
        <source>Measure the quality</source>
        <translation>Qualität messen</translation>
    </message>
    <message>
        <location line="-30"/>
        <location line="+75"/>
        <source>Reading the model…</source>
        <translation>Modell wird gelesen …</translation>
    </message>
    <message>
        <location line="-72"/>
        <source>Use where it is</source>
        <translation>Am Ort verwenden</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Import</source>
        <translation>Importieren</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>8 bits ({name})</source>
        <translation>8 Bit ({name})</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits ({name})</source>
        <translation>4 Bit ({name})</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep as it is</source>
        <translation>Unverändert</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Against the original, when it is imported</source>
        <translation>Am Original, nach dem Import</translation>
    </message>
    <message>
        <location line="+72"/>
        <source>It will take {size} on the disk.</source>
        <translation>Es wird {size} auf der Festplatte belegen.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Its weights need {size} of memory, and {free} are free.</source>
        <translation>Seine Gewichte brauchen {size} Speicher, und {free} sind frei.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It fits.</source>
        <translation>Es passt.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It does not fit now; fewer bits may help.</source>
        <translation>Es passt jetzt nicht; weniger Bits können helfen.</translation>
    </message>
    <message>
        <location line="+57"/>
        <source>There is a model {name} already; choose another name.</source>
        <translation>Es gibt schon ein Modell {name}; wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/running_imports.py" line="+90"/>
        <source>Earlier imports could not be read</source>
        <translation>Frühere Importe konnten nicht gelesen werden</translation>
    </message>
    <message>
        <location line="+142"/>
        <source>The process that measures ended unexpectedly.</source>
        <translation>Der Prozess, der misst, endete unerwartet.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attachment_control.py" line="+72"/>
        <source>Pasted image</source>
        <translation>Eingefügtes Bild</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer_controller.py" line="+70"/>
        <source>No screenshot</source>
        <translation>Kein Bildschirmfoto</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/screenshots.py" line="+107"/>
        <source>The desktop did not take one: take it with another program, and paste it here.</source>
        <translation>Die Arbeitsumgebung hat keines aufgenommen: Nehmen Sie es mit einem anderen Programm auf, und fügen Sie es hier ein.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Screenshot</source>
        <translation>Bildschirmfoto</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_button.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-92"/>
        <source>Image {name}</source>
        <translation>Bild {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Shows it whole</source>
        <translation>Zeigt es ganz</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-8"/>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom to fit</source>
        <translation>Einpassen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy image</source>
        <translation>Bild kopieren</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Save image as…</source>
        <translation>Bild speichern unter&#xa0;…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Opening…</source>
        <translation>Wird geöffnet&#xa0;…</translation>
    </message>
    <message>
        <location line="+99"/>
        <source>Save image as</source>
        <translation>Bild speichern unter</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Saved</source>
        <translation>Gespeichert</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/exported_images.py" line="+26"/>
        <source>{name} images</source>
        <translation>{name} Bilder</translation>
    </message>
</context>
</TS>
