<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="es_ES" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <location filename="../../desktop/sotto/ui/app/shell.py" line="+164"/>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="+126"/>
        <source>Sotto closed unexpectedly</source>
        <translation>Sotto se cerró de forma inesperada</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Running the engine separately keeps a crash from closing the app. Takes effect after restart.</source>
        <translation>Con el motor en un proceso aparte, un fallo no cierra la app. Se aplica al reiniciar Sotto.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="+67"/>
        <source>Turn on</source>
        <translation>Activar</translation>
    </message>
    <message>
        <location line="+147"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="+50"/>
        <source>Quick prompt shortcut</source>
        <translation>Atajo de la consulta rápida</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Sotto keeps running when its window is closed</source>
        <translation>Sotto sigue en marcha al cerrar la ventana</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from this menu.</source>
        <translation>Desde este menú se puede abrir la ventana o salir.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>You can open or quit it from the tray, or quit with Ctrl+Q.</source>
        <translation>Desde la bandeja se puede abrir la ventana o salir; Ctrl+Q también cierra Sotto.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/tray.py" line="+65"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+136"/>
        <source>No model</source>
        <translation>Ningún modelo</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+212"/>
        <source>not loaded</source>
        <translation>no cargado</translation>
    </message>
    <message>
        <location line="-5"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>loading</source>
        <translation>cargando</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ready</source>
        <translation>listo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>answering</source>
        <translation>respondiendo</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+0"/>
        <source>ejecting</source>
        <translation>expulsando</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>could not be loaded</source>
        <translation>no se pudo cargar</translation>
    </message>
    <message>
        <location line="+30"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+68"/>
        <source>Eject Model</source>
        <translation>Expulsar modelo</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-23"/>
        <source>Quick Prompt</source>
        <translation>Consulta rápida</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-19"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-1"/>
        <source>New Chat</source>
        <translation>Nuevo chat</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+148"/>
        <source>Open Sotto</source>
        <translation>Abrir Sotto</translation>
    </message>
    <message>
        <location line="-146"/>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+31"/>
        <source>Quit Sotto</source>
        <translation>Salir de Sotto</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/chat_settings_panel.py" line="+37"/>
        <source>Instructions that the model gets before your messages</source>
        <translation>Instrucciones que el modelo recibe antes de los mensajes</translation>
    </message>
    <message>
        <location line="+18"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+37"/>
        <source>Chat settings</source>
        <translation>Ajustes del chat</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="+59"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+122"/>
        <source>System prompt</source>
        <translation>Prompt del sistema</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Reset to defaults</source>
        <translation>Restablecer valores</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+172"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+6"/>
        <source>Thinking</source>
        <translation>Razonamiento</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="+59"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-33"/>
        <source>Answers</source>
        <translation>Respuestas</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Close chat settings</source>
        <translation>Cerrar los ajustes del chat</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>This chat</source>
        <translation>Este chat</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>Fewer options</source>
        <translation>Menos opciones</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>More options</source>
        <translation>Más opciones</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer.py" line="+63"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+94"/>
        <source>Attach files</source>
        <translation>Adjuntar archivos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach text files, PDFs or images</source>
        <translation>Adjuntar archivos de texto, PDF o imágenes</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Take a screenshot</source>
        <translation>Hacer una captura de pantalla</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Attach a picture of a part of the screen</source>
        <translation>Adjuntar una imagen de una parte de la pantalla</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+45"/>
        <source>Send message</source>
        <translation>Enviar mensaje</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Write a message</source>
        <translation>Escribir un mensaje</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Shift+Enter for a new line</source>
        <translation>Mayús+Intro: línea nueva</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-100"/>
        <source>Stop loading</source>
        <translation>Detener la carga</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop answering</source>
        <translation>Detener la respuesta</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Stop (Esc)</source>
        <translation>Detener (Esc)</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Send (Enter)</source>
        <translation>Enviar (Intro)</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+148"/>
        <source>This model cannot chat</source>
        <translation>Este modelo no puede chatear</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Sends after this answer</source>
        <translation>Se envía tras esta respuesta</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sends as soon as the model is loaded</source>
        <translation>Se envía en cuanto se cargue el modelo</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="+146"/>
        <source>Not attached</source>
        <translation>No se adjuntó</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_actions.py" line="+82"/>
        <source>Drop oldest messages</source>
        <translation>Descartar mensajes antiguos</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Continue in a new chat with a summary</source>
        <translation>Continuar en un chat nuevo con un resumen</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Only the beginning of {name}</source>
        <translation>Solo el principio de {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Only the end of {name}</source>
        <translation>Solo el final de {name}</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Make {name} smaller ({tokens} tokens instead of {before})</source>
        <translation>Reducir {name} ({tokens} tokens en lugar de {before})</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Raise the context to {tokens} (memory need unknown)</source>
        <translation>Ampliar el contexto a {tokens} (memoria necesaria desconocida)</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Raise the context to {tokens} (up to {size} more memory)</source>
        <translation>Ampliar el contexto a {tokens} (hasta {size} más de memoria)</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/context_gauge.py" line="+58"/>
        <source>The oldest messages are dropped; with them it would be {tokens}.</source>
        <translation>Los mensajes más antiguos se descartan; con ellos serían {tokens}.</translation>
    </message>
    <message>
        <location line="+44"/>
        <source>Context: {used} of {limit} tokens, {share} %.</source>
        <translation>Contexto: {used} de {limit} tokens, {share}&#xa0;%.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Context: {used} of {limit} tokens, all.</source>
        <translation>Contexto: {used} de {limit} tokens, todos.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{used} of {limit} tokens, even without the oldest messages.</source>
        <translation>{used} de {limit} tokens, incluso sin los mensajes más antiguos.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+2"/>
        <source>Too long</source>
        <translation>Demasiado largo</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{used} of {limit} tokens.</source>
        <translation>{used} de {limit} tokens.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{left} of {limit} tokens are left for the answer.</source>
        <translation>Quedan {left} de {limit} tokens para la respuesta.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Context nearly full</source>
        <translation>Contexto casi lleno</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/drop_overlay.py" line="+77"/>
        <source>Drop to import chats</source>
        <translation>Soltar para importar chats</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not a file on this computer</source>
        <translation>No es un archivo de este equipo</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Download the model first, then drop its folder here.</source>
        <translation>Primero hay que descargar el modelo y después soltar aquí su carpeta.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Drop to load the model in this folder</source>
        <translation>Soltar para cargar el modelo de esta carpeta</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load the model with these weights</source>
        <translation>Soltar para cargar el modelo con estos pesos</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name}, in the folder {folder}</source>
        <translation>{name}, en la carpeta {folder}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Drop to load this model</source>
        <translation>Soltar para cargar este modelo</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{name} — and {count} more, which will not be loaded</source>
        <translation>
            <numerusform>{name}, y {count} más, que no se cargará</numerusform>
            <numerusform>{name}, y {count} más, que no se cargarán</numerusform>
        </translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Drop to attach this image to your message</source>
        <translation>Soltar para adjuntar esta imagen al mensaje</translation>
    </message>
    <message numerus="yes">
        <location line="-48"/>
        <source>Drop to load a model and attach this file|Drop to load a model and attach {count} files</source>
        <translation>
            <numerusform>Soltar para cargar un modelo y adjuntar este archivo</numerusform>
            <numerusform>Soltar para cargar un modelo y adjuntar {count} archivos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Drop to attach this file to your message|Drop to attach {count} files to your message</source>
        <translation>
            <numerusform>Soltar para adjuntar este archivo al mensaje</numerusform>
            <numerusform>Soltar para adjuntar {count} archivos al mensaje</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+7"/>
        <source>{names} — and {count} more</source>
        <translation>
            <numerusform>{names}, y {count} más</numerusform>
            <numerusform>{names}, y {count} más</numerusform>
        </translation>
    </message>
    <message>
        <location line="+34"/>
        <source>Drop to import this model</source>
        <translation>Suéltalo para importar este modelo</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/format_field.py" line="-23"/>
        <source>Answers stay text until you enter one.</source>
        <translation>Mientras no se indique uno, las respuestas son texto.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The previous choice still applies.</source>
        <translation>Se mantiene la elección anterior.</translation>
    </message>
    <message>
        <location line="+22"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-3"/>
        <source>Text</source>
        <translation>Texto</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schema</source>
        <translation>Esquema</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Answer schema</source>
        <translation>Esquema de las respuestas</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Type or paste a JSON schema, or choose a file</source>
        <translation>Escribir o pegar un esquema JSON, o elegir un archivo</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Choose a File…</source>
        <translation>Elegir archivo…</translation>
    </message>
    <message>
        <location line="+90"/>
        <source>Choose a schema</source>
        <translation>Elegir un esquema</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Schemas</source>
        <translation>Esquemas</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/preset_bar.py" line="+46"/>
        <source>Preset name</source>
        <translation>Nombre del preajuste</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="+190"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+185"/>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="+90"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+408"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+8"/>
        <source>Undo</source>
        <translation>Deshacer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Undo: restore the preset</source>
        <translation>Deshacer: restaurar el preajuste</translation>
    </message>
    <message>
        <location line="+45"/>
        <location line="+23"/>
        <source>None</source>
        <comment>preset</comment>
        <translation>Ninguno</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Save Changes to “{name}”</source>
        <translation>Guardar cambios en «{name}»</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Save as Preset…</source>
        <translation>Guardar como preajuste…</translation>
    </message>
    <message>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+354"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+307"/>
        <location line="+24"/>
        <source>Rename…</source>
        <translation>Renombrar…</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+21"/>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="+14"/>
        <source>Delete</source>
        <translation>Eliminar</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Preset: {name}</source>
        <translation>Preajuste: {name}</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>“{name}” was deleted; this chat keeps its settings.</source>
        <translation>Se eliminó «{name}»; este chat conserva sus ajustes.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/thinking_button.py" line="-20"/>
        <source>Think: on</source>
        <translation>Razonar: sí</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: off</source>
        <translation>Razonar: no</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: low</source>
        <translation>Razonar: bajo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: medium</source>
        <translation>Razonar: medio</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: high</source>
        <translation>Razonar: alto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Think: max</source>
        <translation>Razonar: máx.</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>No thinking mode</source>
        <translation>Sin modo de razonamiento</translation>
    </message>
    <message>
        <location line="+21"/>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="+45"/>
        <location line="+16"/>
        <source>Default</source>
        <translation>Por defecto</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>From Settings: {choice}</source>
        <translation>Según Ajustes: {choice}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Think</source>
        <translation>Razonar</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Thinking: {choice}</source>
        <translation>Razonamiento: {choice}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_announcer.py" line="+65"/>
        <source>{model} answers</source>
        <translation>{model} responde</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>The answer continues</source>
        <translation>La respuesta continúa</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/toolkit/announcements.py" line="+22"/>
        <source>(code)</source>
        <translation>(código)</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>There is no answer; your message is back in the composer.</source>
        <translation>No hay respuesta; el mensaje vuelve a estar en el campo de texto.</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>The answer is complete.</source>
        <translation>La respuesta está completa.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The answer was stopped.</source>
        <translation>La respuesta se detuvo.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The answer was interrupted.</source>
        <translation>La respuesta se interrumpió.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/answer_wording.py" line="+13"/>
        <source>Started to call a tool</source>
        <translation>Empezó a llamar a una herramienta</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>finished</source>
        <translation>terminada</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>reached the length limit</source>
        <translation>alcanzó el límite de longitud</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped because it repeated itself</source>
        <translation>detenida por repetirse</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stopped</source>
        <translation>detenida</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Reading prompt {done} / {total}</source>
        <translation>Leyendo prompt {done} / {total}</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+28"/>
        <source>Answering</source>
        <translation>Respondiendo</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Thought</source>
        <translation>Razonó</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thought for {duration}</source>
        <translation>Razonó durante {duration}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Wants to use {tool}</source>
        <translation>Quiere usar {tool}</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Edited</source>
        <translation>Editada</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted: Sotto closed unexpectedly</source>
        <translation>Interrumpida: Sotto se cerró de forma inesperada</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Interrupted</source>
        <translation>Interrumpida</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+41"/>
        <source>Stopped before the answer started</source>
        <translation>Detenida antes de empezar la respuesta</translation>
    </message>
    <message>
        <location line="-39"/>
        <source>Stopped</source>
        <translation>Detenida</translation>
    </message>
    <message numerus="yes">
        <location line="+42"/>
        <source>1 older token dropped|{count} older tokens dropped</source>
        <translation>
            <numerusform>1 token antiguo descartado</numerusform>
            <numerusform>{count} tokens antiguos descartados</numerusform>
        </translation>
    </message>
    <message>
        <location line="+4"/>
        <source>first after {duration}</source>
        <translation>primero tras {duration}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>prompt {tokens}</source>
        <translation>prompt {tokens}</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>{count} cached</source>
        <translation>{count} en caché</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>only {count} cached: {reason}</source>
        <translation>solo {count} en caché: {reason}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>none cached: {reason}</source>
        <translation>ninguno en caché: {reason}</translation>
    </message>
    <message numerus="yes">
        <location line="-13"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+339"/>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="+275"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="+141"/>
        <source>1 token|{count} tokens</source>
        <translation>
            <numerusform>1 token</numerusform>
            <numerusform>{count} tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/composer/attaching.py" line="-44"/>
        <source>A message can have at most {count} files: attach fewer, or combine them.</source>
        <translation>
            <numerusform>Un mensaje puede tener como máximo {count} archivo: hay que adjuntar menos o combinarlos.</numerusform>
            <numerusform>Un mensaje puede tener como máximo {count} archivos: hay que adjuntar menos o combinarlos.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not everything was attached</source>
        <translation>No se adjuntó todo</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>{file} is already attached to this message.</source>
        <translation>{file} ya está adjunto a este mensaje.</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>{count} files were not attached</source>
        <translation>
            <numerusform>No se adjuntó {count} archivo</numerusform>
            <numerusform>No se adjuntaron {count} archivos</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_library.py" line="+175"/>
        <source>New folder</source>
        <translation>Nueva carpeta</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/conversation/chat_loading.py" line="+41"/>
        <source>1 message of this chat can no longer be read; everything else is here.|{count} messages of this chat can no longer be read; everything else is here.</source>
        <translation>
            <numerusform>Ya no se puede leer 1 mensaje de este chat; todo lo demás está aquí.</numerusform>
            <numerusform>Ya no se pueden leer {count} mensajes de este chat; todo lo demás está aquí.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Not everything could be read</source>
        <translation>No se pudo leer todo</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_session.py" line="+168"/>
        <source>Waiting for the model…</source>
        <translation>Esperando al modelo…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reading prompt…</source>
        <translation>Leyendo prompt…</translation>
    </message>
    <message>
        <location line="+162"/>
        <source>No answer</source>
        <translation>Sin respuesta</translation>
    </message>
    <message>
        <location line="+151"/>
        <source>No summary</source>
        <translation>Sin resumen</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/chat_thread.py" line="+173"/>
        <source>{file} could not be read or written: {reason}.</source>
        <translation>No se pudo leer o escribir {file}: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/prefix_reuse.py" line="+43"/>
        <source>this model has not seen it yet</source>
        <translation>este modelo aún no lo ha visto</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>the setting for thinking was changed</source>
        <translation>se cambió el ajuste de razonamiento</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>the oldest messages were dropped</source>
        <translation>se descartaron los mensajes más antiguos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>its cache was evicted</source>
        <translation>su caché ya se había descartado</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>the system prompt was changed</source>
        <translation>se cambió el prompt del sistema</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>an earlier message was changed</source>
        <translation>se cambió un mensaje anterior</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/row_ids.py" line="+58"/>
        <source>The message before this one could not be saved, so this one is not saved either.</source>
        <translation>El mensaje anterior no se pudo guardar, así que este tampoco se guarda.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/summary.py" line="+78"/>
        <source>The model wrote nothing.</source>
        <translation>El modelo no escribió nada.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/code_header.py" line="+33"/>
        <source>Code in {language}</source>
        <translation>Código en {language}</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+1"/>
        <source>Code</source>
        <translation>Código</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Wrap lines</source>
        <translation>Ajustar líneas</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Wrap long lines</source>
        <translation>Ajustar líneas largas</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy code</source>
        <translation>Copiar código</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+51"/>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+41"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+3"/>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="+47"/>
        <source>Report</source>
        <translation>Informe</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy report</source>
        <translation>Copiar informe</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Show logs</source>
        <translation>Mostrar registros</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>This report stays on your computer unless you send it. It has no messages, keys or names of chats.</source>
        <translation>Este informe permanece en su ordenador mientras no lo envíe. No contiene mensajes, claves ni nombres de chats.</translation>
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
        <translation>Copiado</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/markdown/view.py" line="+288"/>
        <source>Scroll table sideways</source>
        <translation>Desplazar la tabla lateralmente</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Scroll code sideways</source>
        <translation>Desplazar el código lateralmente</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+63"/>
        <location line="+76"/>
        <source>Searched folders</source>
        <translation>Carpetas examinadas</translation>
    </message>
    <message>
        <location line="-74"/>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+340"/>
        <source>Add a model folder</source>
        <translation>Añadir una carpeta de modelos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder…</source>
        <translation>Añadir carpeta…</translation>
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
        <translation>Obtener un modelo</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/sight_actions.py" line="+64"/>
        <source>{model} does not see images</source>
        <translation>{model} no ve imágenes</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Switch to a model that sees them, or send without.</source>
        <translation>Cambie a un modelo que las vea o envíe sin ellas.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None of your models sees images: get one that does, or send without.</source>
        <translation>Ninguno de sus modelos ve imágenes: consiga uno que las vea o envíe sin ellas.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Use {model}</source>
        <translation>Usar {model}</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Get a model…</source>
        <translation>Obtener un modelo…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Send without image|Send without images</source>
        <translation>
            <numerusform>Enviar sin la imagen</numerusform>
            <numerusform>Enviar sin las imágenes</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/discovery_summary.py" line="+10"/>
        <source>Looking for models…</source>
        <translation>Buscando modelos…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Sotto reads them in place and never changes them. Drop a model here to add it.</source>
        <translation>Sotto los lee donde están y nunca los modifica. Para añadir uno, basta con soltarlo aquí.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No other models found yet</source>
        <translation>Aún no se encontraron otros modelos</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models of Ollama, LM Studio and Hugging Face tools appear by themselves. Drop a model here to add it.</source>
        <translation>Los modelos de Ollama, LM Studio y las herramientas de Hugging Face aparecen por sí solos. Para añadir uno, basta con soltarlo aquí.</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>not found</source>
        <translation>no encontrada</translation>
    </message>
    <message numerus="yes">
        <location line="+17"/>
        <source>Found 1 model you already have ({size})|Found {count} models you already have ({size})</source>
        <translation>
            <numerusform>1 modelo encontrado en este equipo ({size})</numerusform>
            <numerusform>{count} modelos encontrados en este equipo ({size})</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="+183"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+235"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="+108"/>
        <source>1 model|{count} models</source>
        <translation>
            <numerusform>1 modelo</numerusform>
            <numerusform>{count} modelos</numerusform>
        </translation>
    </message>
    <message>
        <location line="+0"/>
        <source>no models</source>
        <translation>ningún modelo</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>4-bit models of up to about {billions}B suit this machine ({size} of memory).</source>
        <translation>Para este equipo ({size} de memoria) son adecuados los modelos de 4 bits de hasta unos {billions}B.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_controller.py" line="+84"/>
        <source>The model was not downloaded</source>
        <translation>El modelo no se ha descargado</translation>
    </message>
    <message>
        <location line="+32"/>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="+3"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-221"/>
        <location line="+272"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+223"/>
        <source>Load</source>
        <translation>Cargar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/report_dialog.py" line="-28"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="-27"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+31"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-154"/>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-51"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-2"/>
        <location line="+4"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+79"/>
        <source>Name of the model</source>
        <translation>Nombre del modelo</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Instructions that the model gets before each conversation</source>
        <translation>Instrucciones que el modelo recibe antes de cada conversación</translation>
    </message>
    <message>
        <location line="+8"/>
        <location line="+38"/>
        <source>Stop texts</source>
        <translation>Textos de parada</translation>
    </message>
    <message>
        <location line="-37"/>
        <source>One per line</source>
        <translation>Uno por línea</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template</source>
        <translation>Plantilla</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+45"/>
        <source>What the model reads</source>
        <translation>Lo que lee el modelo</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Options</source>
        <translation>Opciones</translation>
    </message>
    <message>
        <location line="+70"/>
        <source>The template leaves the system prompt out.</source>
        <translation>La plantilla omite el prompt del sistema.</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Hide the template</source>
        <translation>Ocultar la plantilla</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Change the template</source>
        <translation>Cambiar la plantilla</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+38"/>
        <source>The selected model</source>
        <translation>El modelo seleccionado</translation>
    </message>
    <message>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="+227"/>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="+89"/>
        <source>Suits this machine best</source>
        <translation>El mejor para este equipo</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Show its page in the browser</source>
        <translation>Mostrar su página en el navegador</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Its page</source>
        <translation>Su página</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Opens your browser</source>
        <translation>Abre el navegador</translation>
    </message>
    <message>
        <location line="+134"/>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+10"/>
        <source>Get</source>
        <translation>Obtener</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Get {name}</source>
        <translation>Obtener {name}</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>You have it</source>
        <translation>Ya lo tienes</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_form.py" line="+0"/>
        <source>Get the model</source>
        <translation>Obtener el modelo</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The name of a model in Ollama’s library, such as llama3.2:3b, or of one on Hugging Face, such as mlx-community/Qwen3-0.6B-4bit.</source>
        <translation>El nombre de un modelo de la biblioteca de Ollama, como llama3.2:3b, o de Hugging Face, como mlx-community/Qwen3-0.6B-4bit.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-76"/>
        <source>Programming</source>
        <translation>Programación</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Many languages</source>
        <translation>Muchos idiomas</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Long texts</source>
        <translation>Textos largos</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mathematics</source>
        <translation>Matemáticas</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Made in the open</source>
        <translation>Desarrollo abierto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Everyday questions</source>
        <translation>Preguntas cotidianas</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Small machines</source>
        <translation>Equipos pequeños</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Thinks first</source>
        <translation>Piensa primero</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Uses tools</source>
        <translation>Usa herramientas</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Download by this name</source>
        <translation>Descargar con este nombre</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Made by</source>
        <translation>Creado por</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Published by</source>
        <translation>Publicado por</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Architecture</source>
        <translation>Arquitectura</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/download_list.py" line="+37"/>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-57"/>
        <source>Downloads</source>
        <translation>Descargas</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} licence</source>
        <translation>Licencia {name}</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{fit} with {count} tokens</source>
        <translation>{fit} con {count} tokens</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>On {host}</source>
        <translation>En {host}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>By name</source>
        <translation>Por nombre</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Suggestions</source>
        <translation>Sugerencias</translation>
    </message>
    <message numerus="yes">
        <location line="+6"/>
        <source>1 download|{count} downloads</source>
        <translation>
            <numerusform>1 descarga</numerusform>
            <numerusform>{count} descargas</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="+71"/>
        <source>Resume</source>
        <translation>Reanudar</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Resume the download of {name}</source>
        <translation>Reanudar la descarga de {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+131"/>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Try the download of {name} again</source>
        <translation>Reintentar la descarga de {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+24"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-36"/>
        <location line="+36"/>
        <source>Pause</source>
        <translation>Pausar</translation>
    </message>
    <message>
        <location line="-24"/>
        <source>Pause the download of {name}</source>
        <translation>Pausar la descarga de {name}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Cancel the download of {name}</source>
        <translation>Cancelar la descarga de {name}</translation>
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
        <translation>Cancelar</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Create</source>
        <translation>Crear</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Create the model</source>
        <translation>Crear el modelo</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_row.py" line="+2"/>
        <source>Downloaded</source>
        <translation>Descargado</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-116"/>
        <source>Queued</source>
        <translation>En cola</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Looking it up</source>
        <translation>Consultando</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Downloading</source>
        <translation>Descargando</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/download_words.py" line="+1"/>
        <source>Stalled</source>
        <translation>Sin avances</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Retrying</source>
        <translation>Reintentando</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+32"/>
        <source>Paused</source>
        <translation>En pausa</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verifying</source>
        <translation>Verificando</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+1"/>
        <source>Failed</source>
        <translation>Error</translation>
    </message>
    <message>
        <location line="+12"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+21"/>
        <source>{done} of {total}</source>
        <translation>{done} de {total}</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>more than a day left</source>
        <translation>más de un día para terminar</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+3"/>
        <source>{time} left</source>
        <translation>{time} para terminar</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Updating</source>
        <translation>Actualizando</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>From Ollama’s library, at {host}.</source>
        <translation>De la biblioteca de Ollama, en {host}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From Hugging Face, where {owner} publishes it.</source>
        <translation>De Hugging Face, donde lo publica {owner}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>From {host}, where {owner} publishes it.</source>
        <translation>De {host}, donde lo publica {owner}.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>You already have it: {places}.</source>
        <translation>Ya está en este equipo: {places}.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{name} is being downloaded.</source>
        <translation>{name} se está descargando.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} could not be downloaded</source>
        <translation>No se pudo descargar {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Its {size} were checked.</source>
        <translation>Se han comprobado sus {size}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} is up to date</source>
        <translation>{name} está al día</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} were downloaded and checked.</source>
        <translation>{size} descargados y comprobados.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="+58"/>
        <source>{name} is here</source>
        <translation>{name} ya está aquí</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/downloads.py" line="-49"/>
        <source>Earlier downloads could not be read</source>
        <translation>No se pudieron leer las descargas anteriores</translation>
    </message>
    <message>
        <location line="+46"/>
        <source>The download of {name} was cancelled</source>
        <translation>Se canceló la descarga de {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The {size} downloaded so far will be deleted in a moment.</source>
        <translation>Los {size} ya descargados se eliminarán enseguida.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/idle_unloader.py" line="+68"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-92"/>
        <source>Stays loaded</source>
        <translation>Permanece cargado</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unloads in {time} if idle</source>
        <translation>Se expulsa en {time} si no se usa</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/memory_gauge.py" line="-157"/>
        <source>{free} free</source>
        <translation>{free} libres</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Memory: {free} of {total} free</source>
        <translation>Memoria: {free} de {total} libres</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{free} free · getting tight</source>
        <translation>{free} libres · escasea</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory getting tight: {free} of {total} free</source>
        <translation>La memoria escasea: {free} de {total} libres</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · nearly full</source>
        <translation>{free} libres · casi llena</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory nearly full: {free} of {total} free</source>
        <translation>Memoria casi llena: {free} de {total} libres</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{free} free · critical</source>
        <translation>{free} libres · crítica</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Memory critical: {free} of {total} free</source>
        <translation>Memoria crítica: {free} de {total} libres</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Memory</source>
        <translation>Memoria</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+63"/>
        <source>Show memory details</source>
        <translation>Mostrar los detalles de la memoria</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide memory details</source>
        <translation>Ocultar los detalles de la memoria</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Memory unknown</source>
        <translation>Memoria desconocida</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Contexts take at most {size}</source>
        <translation>Los contextos ocupan como máximo {size}</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Other programs</source>
        <translation>Otros programas</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>This model</source>
        <translation>Este modelo</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Context in use</source>
        <translation>Contexto en uso</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="+8"/>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="+23"/>
        <source>Prompt cache</source>
        <translation>Caché de prompts</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>A context of 1 token|A context of {count} tokens</source>
        <translation>
            <numerusform>Un contexto de 1 token</numerusform>
            <numerusform>Un contexto de {count} tokens</numerusform>
        </translation>
    </message>
    <message>
        <location line="+50"/>
        <source>{name} would take {size}</source>
        <translation>{name} ocuparía {size}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-262"/>
        <source>Weights</source>
        <translation>Pesos</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+110"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-183"/>
        <source>Context</source>
        <translation>Contexto</translation>
    </message>
    <message>
        <location line="-109"/>
        <source>While computing</source>
        <translation>Al calcular</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Together</source>
        <translation>En total</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Predicted</source>
        <translation>Previsto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In use now</source>
        <translation>En uso ahora</translation>
    </message>
    <message>
        <location line="+49"/>
        <location line="+206"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+30"/>
        <source>Favourite</source>
        <translation>Favorito</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_card.py" line="-175"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="-203"/>
        <source>Close details</source>
        <translation>Cerrar los detalles</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+8"/>
        <location line="+218"/>
        <source>Add adapter…</source>
        <translation>Añadir adaptador…</translation>
    </message>
    <message>
        <location line="-214"/>
        <source>Keep the model in Sotto’s own store, so that it stays when the other program deletes it</source>
        <translation>Conservar el modelo en el almacén de Sotto, para que permanezca si el otro programa lo elimina</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Keep a copy…</source>
        <translation>Conservar una copia…</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="+61"/>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-23"/>
        <source>Context length</source>
        <translation>Longitud del contexto</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>More about this model</source>
        <translation>Más sobre este modelo</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep the model in memory when it is idle</source>
        <translation>Dejar el modelo en memoria cuando no se usa</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+173"/>
        <source>Keep loaded</source>
        <translation>Dejar cargado</translation>
    </message>
    <message>
        <location line="-6"/>
        <source>Details of {name}</source>
        <translation>Detalles de {name}</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Favourites come first in the list</source>
        <translation>Los favoritos van al principio de la lista</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Adapter: {name}</source>
        <translation>Adaptador: {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>No adapter</source>
        <translation>Sin adaptador</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Remove adapter</source>
        <translation>Quitar adaptador</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Unknown whether it fits</source>
        <translation>No se sabe si cabe</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Converted to {format}</source>
        <translation>Convertidos a {format}</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{needed} of {total}</source>
        <translation>{needed} de {total}</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>It will be available again once its disk is connected.</source>
        <translation>Volverá a estar disponible cuando se conecte su disco.</translation>
    </message>
    <message>
        <location line="+21"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-34"/>
        <source>Eject</source>
        <translation>Expulsar</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-9"/>
        <source>Eject {name}</source>
        <translation>Expulsar {name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="+7"/>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+25"/>
        <source>Stop</source>
        <translation>Detener</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Progress</source>
        <translation>Progreso</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_card.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+8"/>
        <source>Stop loading {name}</source>
        <translation>Detener la carga de {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load anyway</source>
        <translation>Forzar carga</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Load {name} anyway</source>
        <translation>Forzar la carga de {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Load {name}</source>
        <translation>Cargar {name}</translation>
    </message>
    <message>
        <location line="+92"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+275"/>
        <source>unknown</source>
        <translation>desconocido</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-147"/>
        <source>Built in</source>
        <translation>Integrado</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Folder</source>
        <translation>Carpeta</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>fits into memory</source>
        <translation>cabe en la memoria</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>a tight fit</source>
        <translation>cabe justo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>does not fit into memory</source>
        <translation>no cabe en la memoria</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>unknown whether it fits</source>
        <translation>no se sabe si cabe</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Disk not connected</source>
        <translation>Disco no conectado</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>favourite</source>
        <translation>favorito</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>stays loaded</source>
        <translation>permanece cargado</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-15"/>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="+32"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-210"/>
        <source>Cannot run here</source>
        <translation>Imposible ejecutar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-31"/>
        <source>sees images</source>
        <translation>ve imágenes</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Loaded</source>
        <translation>Cargado</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+67"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-32"/>
        <source>Could not be loaded</source>
        <translation>No se pudo cargar</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{bits}-bit</source>
        <translation>{bits} bits</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="+179"/>
        <source>vectors</source>
        <translation>vectores</translation>
    </message>
    <message numerus="yes">
        <location line="+24"/>
        <source>1-token context|{count}-token context</source>
        <translation>
            <numerusform>contexto de 1 token</numerusform>
            <numerusform>contexto de {count} tokens</numerusform>
        </translation>
    </message>
    <message>
        <location line="+5"/>
        <source>{number} parameters</source>
        <translation>{number} parámetros</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>Images</source>
        <translation>Imágenes</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tools</source>
        <translation>Herramientas</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Embeddings, with sotto embed or the API</source>
        <translation>Embeddings, con sotto embed o la API</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Embeddings</source>
        <translation>Embeddings</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>{size} on disk, deleting frees {freed}</source>
        <translation>{size} en el disco, al eliminarlo se liberan {freed}</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Memory in use after loading: {percent} % of {size}.</source>
        <translation>Memoria en uso tras la carga: {percent}&#xa0;% de {size}.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Predicted {size}, uses {actual}</source>
        <translation>Previsto: {size}; usa {actual}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="-90"/>
        <source>Recently Used</source>
        <translation>Uso reciente</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/recipe_form.py" line="-84"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="+23"/>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-279"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+342"/>
        <source>Name</source>
        <translation>Nombre</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+1"/>
        <source>Size</source>
        <translation>Tamaño</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+3"/>
        <source>Fit</source>
        <translation>¿Cabe?</translation>
    </message>
    <message>
        <location line="+74"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+16"/>
        <source>Rescan models</source>
        <translation>Volver a buscar modelos</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-2"/>
        <source>Sort models</source>
        <translation>Ordenar modelos</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+0"/>
        <source>Download a model by name</source>
        <translation>Descargar un modelo por su nombre</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_panel.py" line="+2"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-15"/>
        <source>Find a model to download</source>
        <translation>Buscar un modelo para descargar</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="+3"/>
        <source>Manage models</source>
        <translation>Gestionar modelos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Manage…</source>
        <translation>Gestionar…</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-1"/>
        <source>Show all models on a page</source>
        <translation>Mostrar todos los modelos en una página</translation>
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
        <translation>Modelos</translation>
    </message>
    <message>
        <location line="+170"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+122"/>
        <source>No model is called “{text}”.</source>
        <translation>Ningún modelo se llama «{text}».</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Other models appear here. Get one below, or drop one on this window.</source>
        <translation>Los demás modelos aparecen aquí. Se puede obtener uno abajo o soltarlo en esta ventana.</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Use</source>
        <translation>Usar</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Details</source>
        <translation>Detalles</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Name</source>
        <translation>Copiar nombre</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Show Folder</source>
        <translation>Mostrar carpeta</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Verify Files</source>
        <translation>Verificar archivos</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Customize…</source>
        <translation>Personalizar…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use a Template…</source>
        <translation>Usar una plantilla…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Use the Model’s Template</source>
        <translation>Usar la plantilla del modelo</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Duplicate…</source>
        <translation>Duplicar…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep a Copy…</source>
        <translation>Conservar una copia…</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep Loaded</source>
        <translation>Dejar cargado</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_picker.py" line="-20"/>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="+1"/>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="+22"/>
        <source>Choose a model</source>
        <translation>Elegir un modelo</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-170"/>
        <source>Filter models</source>
        <translation>Filtrar modelos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Filter models…</source>
        <translation>Filtrar modelos…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>No model matches.</source>
        <translation>Ningún modelo coincide.</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Manage models…</source>
        <translation>Gestionar modelos…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_row.py" line="-253"/>
        <source>Eject and free its memory</source>
        <translation>Expulsar y liberar su memoria</translation>
    </message>
    <message>
        <location line="+70"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+218"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-2"/>
        <source>Ejecting…</source>
        <translation>Expulsando…</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>cannot run</source>
        <translation>imposible ejecutar</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>loaded, answering</source>
        <translation>cargado, respondiendo</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>loaded</source>
        <translation>cargado</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-55"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="-220"/>
        <source>Parameters</source>
        <translation>Parámetros</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+1"/>
        <source>Bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Source</source>
        <translation>Origen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last used</source>
        <translation>Último uso</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Disk use</source>
        <translation>En disco</translation>
    </message>
    <message numerus="yes">
        <location line="+175"/>
        <source>{shown} of 1 model|{shown} of {count} models</source>
        <translation>
            <numerusform>{shown} de 1 modelo</numerusform>
            <numerusform>{shown} de {count} modelos</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-25"/>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+9"/>
        <source>{size} on disk</source>
        <translation>{size} en disco</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_table.py" line="+28"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="-10"/>
        <source>Loading…</source>
        <translation>Cargando…</translation>
    </message>
    <message numerus="yes">
        <location line="+27"/>
        <source>With a context of 1 token.|With a context of {count} tokens.</source>
        <translation>
            <numerusform>Con un contexto de 1 token.</numerusform>
            <numerusform>Con un contexto de {count} tokens.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>All copies together, in {places}</source>
        <translation>Todas las copias juntas, en {places}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>never</source>
        <translation>nunca</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>{title}, sorted down</source>
        <translation>{title}, orden descendente</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{title}, sorted up</source>
        <translation>{title}, orden ascendente</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_templates.py" line="+114"/>
        <source>A template for {name}: Jinja or Go</source>
        <translation>Plantilla para {name}: Jinja o Go</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its template</source>
        <translation>{name} conserva su plantilla</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Template set</source>
        <translation>Plantilla asignada</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>It makes the prompts of {name} from now on.</source>
        <translation>Desde ahora genera los prompts de {name}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It makes the prompts of {name} from the next load on.</source>
        <translation>Generará los prompts de {name} a partir de la próxima carga.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Template reset</source>
        <translation>Plantilla restablecida</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} uses its own template from now on.</source>
        <translation>{name} usa desde ahora su propia plantilla.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} uses its own template from the next load on.</source>
        <translation>{name} usará su propia plantilla a partir de la próxima carga.</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>The folder of a LoRA adapter for {name}</source>
        <translation>La carpeta de un adaptador LoRA para {name}</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{name} keeps its adapter</source>
        <translation>{name} conserva su adaptador</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Adapter added</source>
        <translation>Adaptador añadido</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers with it from now on.</source>
        <translation>A partir de ahora, {name} responde con él.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers with it from the next load on.</source>
        <translation>{name} responderá con él a partir de la próxima carga.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Adapter removed</source>
        <translation>Adaptador quitado</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>{name} answers without one from now on.</source>
        <translation>A partir de ahora, {name} responde sin adaptador.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{name} answers without one from the next load on.</source>
        <translation>{name} responderá sin adaptador a partir de la próxima carga.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_trash.py" line="-5"/>
        <source>{name} was not deleted</source>
        <translation>No se eliminó {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{name} was deleted</source>
        <translation>Se eliminó {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frees {size} once the trash is emptied, in an hour.</source>
        <translation>Libera {size} cuando se vacíe la papelera, dentro de una hora.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>{name} could not be restored</source>
        <translation>No se pudo restaurar {name}</translation>
    </message>
    <message>
        <location line="+48"/>
        <source>Restore {name}</source>
        <translation>Restaurar {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty the Trash</source>
        <translation>Vaciar la papelera</translation>
    </message>
    <message>
        <location line="-40"/>
        <source>The trash of models could not be emptied</source>
        <translation>No se pudo vaciar la papelera de modelos</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_controller.py" line="+12"/>
        <source>The name of {folder} is not UTF-8, so it cannot be saved; rename the folder.</source>
        <translation>El nombre de {folder} no está en UTF-8 y no se puede guardar: hay que renombrar la carpeta.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The folder was not added</source>
        <translation>No se añadió la carpeta</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_page.py" line="-31"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-9"/>
        <source>Back to the chat</source>
        <translation>Volver al chat</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+0"/>
        <source>Back</source>
        <translation>Volver</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Search for models</source>
        <translation>Buscar modelos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Search Hugging Face, or type a name</source>
        <translation>Busca en Hugging Face o escribe un nombre</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="+5"/>
        <source>Import a folder or a GGUF file into Sotto’s own store</source>
        <translation>Importar una carpeta o un archivo GGUF al almacén de Sotto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import…</source>
        <translation>Importar…</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Details of the selected model</source>
        <translation>Detalles del modelo seleccionado</translation>
    </message>
    <message numerus="yes">
        <location line="+101"/>
        <source>1 deleted model…|{count} deleted models…</source>
        <translation>
            <numerusform>1 modelo eliminado…</numerusform>
            <numerusform>{count} modelos eliminados…</numerusform>
        </translation>
    </message>
    <message>
        <location line="+57"/>
        <source>No models yet.</source>
        <translation>Aún no hay modelos.</translation>
    </message>
    <message>
        <location line="+43"/>
        <source>Ascending</source>
        <translation>Ascendente</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Descending</source>
        <translation>Descendente</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+6"/>
        <source>Choose one above or in the list, or drop one here</source>
        <translation>Elegir uno arriba o en la lista, o soltarlo aquí</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Loads when needed</source>
        <translation>Se carga cuando hace falta</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Loading</source>
        <translation>Cargando</translation>
    </message>
    <message numerus="yes">
        <location line="+3"/>
        <source>1 token of context|{count} tokens of context</source>
        <translation>
            <numerusform>1 token de contexto</numerusform>
            <numerusform>{count} tokens de contexto</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Ready</source>
        <translation>Listo</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>makes embeddings</source>
        <translation>genera embeddings</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_description.py" line="-11"/>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+2"/>
        <source>predicts tokens ahead</source>
        <translation>predice tokens por adelantado</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/state_line.py" line="+20"/>
        <source>Reading the tokenizer</source>
        <translation>Leyendo el tokenizador</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Warming up</source>
        <translation>Preparando</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>no progress for {time}</source>
        <translation>sin avances desde hace {time}</translation>
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
        <translation>Modelo</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Menu</source>
        <translation>Menú</translation>
    </message>
    <message>
        <location line="+152"/>
        <source>Command palette</source>
        <translation>Paleta de comandos</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Search chats, models and commands</source>
        <translation>Buscar chats, modelos y comandos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Open a chat, load a model, run a command</source>
        <translation>Abrir un chat, cargar un modelo, ejecutar un comando</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Results</source>
        <translation>Resultados</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-69"/>
        <source>No results.</source>
        <translation>Sin resultados.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/global_shortcut.py" line="+91"/>
        <source>{keys} is not a key that could be pressed: write it as Ctrl+Alt+Space.</source>
        <translation>{keys} no es una tecla que se pueda pulsar: debe escribirse como Ctrl+Alt+Space.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>{keys} alone would stop working in all other programs: combine it with Ctrl, Alt or Meta.</source>
        <translation>{keys} por sí solo dejaría de funcionar en los demás programas: hay que combinarlo con Ctrl, Alt o Meta.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_item.py" line="+51"/>
        <source>{file} cannot be changed: {reason}.</source>
        <translation>No se puede cambiar {file}: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/mac_keys.py" line="+74"/>
        <source>{keys} cannot be taken: choose a letter, a digit or Space with Cmd, Ctrl or Option.</source>
        <translation>No se puede usar {keys}: debe ser una letra, una cifra o la barra espaciadora con Cmd, Ctrl u Opción.</translation>
    </message>
    <message>
        <location line="+7"/>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="+79"/>
        <source>{keys} is already used by another program: choose another shortcut for the quick prompt.</source>
        <translation>Otro programa ya usa {keys}: hay que elegir otro atajo para la consulta rápida.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/portal_keys.py" line="+25"/>
        <source>Show or hide the quick prompt</source>
        <translation>Mostrar u ocultar la consulta rápida</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Waiting for the desktop to grant the shortcut.</source>
        <translation>Esperando a que el escritorio conceda el atajo.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop grants shortcuts only to installed apps: install Sotto’s menu entry, app.sotto.desktop, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>El escritorio solo concede atajos a las apps instaladas: hay que instalar la entrada de menú de Sotto, app.sotto.desktop, o asignar `sotto --toggle` en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not grant {keys}, and will ask again at the next start: choose another shortcut or none, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>El escritorio no concedió {keys} y volverá a preguntar en el próximo inicio: se puede elegir otro atajo o ninguno, o asignar `sotto --toggle` en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>The desktop did not answer the request for {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>El escritorio no respondió a la solicitud de {keys}: se puede elegir otro atajo o asignar `sotto --toggle` en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The desktop’s shortcut service has stopped; {keys} will work again when it is back.</source>
        <translation>El servicio de atajos del escritorio se detuvo; {keys} volverá a funcionar cuando se recupere.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The desktop could not grant {keys}: choose another shortcut, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>El escritorio no pudo conceder {keys}: se puede elegir otro atajo o asignar `sotto --toggle` en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The desktop has withdrawn the shortcut: choose another one, or bind `sotto --toggle` in the settings of your desktop.</source>
        <translation>El escritorio retiró el atajo: se puede elegir otro o asignar `sotto --toggle` en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location line="+121"/>
        <source>Your desktop calls it “{description}”. Choose its shortcut in the settings of your desktop.</source>
        <translation>El escritorio lo llama «{description}». Su atajo se elige en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your desktop grants: {keys}. You can change it in the settings of your desktop.</source>
        <translation>El escritorio concede: {keys}. Se puede cambiar en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/shortcut_messages.py" line="+6"/>
        <source>Apps cannot register shortcuts on this desktop: bind `sotto --toggle` to {keys} in the settings of your desktop.</source>
        <translation>En este escritorio, las apps no pueden registrar atajos: hay que asignar {keys} a `sotto --toggle` en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/x11_keys.py" line="-7"/>
        <source>There is no {keys} on this keyboard: choose other keys for the quick prompt.</source>
        <translation>Este teclado no tiene {keys}: hay que elegir otras teclas para la consulta rápida.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+18"/>
        <source>On</source>
        <translation>Activado</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Off</source>
        <translation>Desactivado</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Low</source>
        <translation>Bajo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Medium</source>
        <translation>Medio</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>High</source>
        <translation>Alto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max</source>
        <translation>Máximo</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much</source>
        <translation>Si el modelo razona antes de responder y, cuando se puede ajustar, cuánto</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Answers follow the JSON schema.</source>
        <translation>Las respuestas siguen el esquema JSON.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the regular expression.</source>
        <translation>Las respuestas se ajustan a la expresión regular.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match the Lark grammar.</source>
        <translation>Las respuestas se ajustan a la gramática Lark.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-2"/>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+99"/>
        <source>Format</source>
        <translation>Formato</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/answer_options.py" line="+9"/>
        <source>Answers are JSON objects.</source>
        <translation>Las respuestas son objetos JSON.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Answers follow {name}.</source>
        <translation>Las respuestas siguen {name}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answers match {name}.</source>
        <translation>Las respuestas se ajustan a {name}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/presets.py" line="+122"/>
        <source>A preset needs a name.</source>
        <translation>El preajuste necesita un nombre.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>A name can have at most {most} characters; this one has {count}.</source>
        <translation>Un nombre puede tener como máximo {most} caracteres; este tiene {count}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>There is already a preset “{name}”: choose another name.</source>
        <translation>Ya hay un preajuste «{name}»: hay que elegir otro nombre.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/preferences/sampling_options.py" line="-46"/>
        <source>Max thinking tokens</source>
        <translation>Máx. de razonamiento</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; then thinking ends</source>
        <translation>En tokens; después termina el razonamiento</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+19"/>
        <source>no limit</source>
        <translation>sin límite</translation>
    </message>
    <message>
        <location line="-17"/>
        <source>Temperature</source>
        <translation>Temperatura</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>0 always picks the most likely token; higher is more varied</source>
        <translation>0 elige siempre el token más probable; más alto, más variado</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from the most likely tokens up to this total probability</source>
        <translation>Elige entre los tokens más probables hasta esta probabilidad total</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Samples from this many of the most likely tokens; 0 from all</source>
        <translation>Elige entre este número de tokens más probables; 0, entre todos</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens below this fraction of the highest probability</source>
        <translation>Excluye los tokens por debajo de esta fracción de la probabilidad más alta</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Typical-p</source>
        <translation>Typical-p</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Excludes tokens that are unusually likely or unlikely</source>
        <translation>Excluye los tokens inusualmente probables o improbables</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC</source>
        <translation>XTC</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How often the most likely tokens are excluded, for variety</source>
        <translation>Con qué frecuencia se excluyen los tokens más probables, para dar variedad</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Repeat penalty</source>
        <translation>Penaliz. por repetición</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 1 repeats less</source>
        <translation>Por encima de 1 repite menos</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY</source>
        <translation>DRY</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Above 0 avoids repeating whole passages</source>
        <translation>Por encima de 0 evita repetir pasajes enteros</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Seed</source>
        <translation>Semilla</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The same seed gives the same answer</source>
        <translation>La misma semilla da la misma respuesta</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>random</source>
        <translation>aleatoria</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Max response tokens</source>
        <translation>Máx. de respuesta</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+27"/>
        <source>In tokens</source>
        <translation>En tokens</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Presence penalty</source>
        <translation>Penaliz. por presencia</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted once from tokens that have occurred</source>
        <translation>Se resta una vez a los tokens que ya han aparecido</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Frequency penalty</source>
        <translation>Penaliz. por frecuencia</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Subtracted for each time that a token has occurred</source>
        <translation>Se resta por cada vez que ha aparecido un token</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Penalty window</source>
        <translation>Ventana de penaliz.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The penalties cover this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>Las penalizaciones abarcan este número de últimos tokens; -1, todo el contexto; 0, ninguno</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC threshold</source>
        <translation>Umbral de XTC</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>XTC excludes tokens at or above this probability</source>
        <translation>XTC excluye los tokens con esta probabilidad o una mayor</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY base</source>
        <translation>Base de DRY</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How fast the DRY penalty grows with the repeated length</source>
        <translation>Con qué rapidez crece la penalización de DRY según la longitud repetida</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY length</source>
        <translation>Longitud de DRY</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>In tokens; shorter passages may repeat</source>
        <translation>En tokens; los pasajes más cortos se pueden repetir</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY window</source>
        <translation>Ventana de DRY</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>DRY covers this many of the last tokens; -1 for the whole context, 0 for none</source>
        <translation>DRY abarca este número de últimos tokens; -1, todo el contexto; 0, ninguno</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat</source>
        <translation>Mirostat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Version 1 or 2, which replaces the options that exclude tokens; 0 is off</source>
        <translation>Versión 1 o 2, que sustituye a las opciones que excluyen tokens; 0, desactivado</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat tau</source>
        <translation>Mirostat tau</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How surprising each token should be, in bits</source>
        <translation>Cuánto debe sorprender cada token, en bits</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Mirostat eta</source>
        <translation>Mirostat eta</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>How fast mirostat adapts</source>
        <translation>Con qué rapidez se adapta mirostat</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>the model’s maximum</source>
        <translation>máximo del modelo</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/quick/quick_panel.py" line="-13"/>
        <source>Sotto: Quick Prompt</source>
        <translation>Sotto: consulta rápida</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-15"/>
        <source>Quick prompt</source>
        <translation>Consulta rápida</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Ask anything</source>
        <translation>Hacer una pregunta</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Use clipboard</source>
        <translation>Usar portapapeles</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Insert the clipboard’s text or image</source>
        <translation>Insertar el texto o la imagen del portapapeles</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+35"/>
        <source>Open in Sotto</source>
        <translation>Abrir en Sotto</translation>
    </message>
    <message>
        <location line="-35"/>
        <source>Continue in Sotto’s window</source>
        <translation>Continuar en la ventana de Sotto</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>More</source>
        <translation>Más</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>Reset Position</source>
        <translation>Restablecer posición</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide</source>
        <translation>Ocultar</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>loading…</source>
        <translation>cargando…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>failed</source>
        <translation>error</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>ejecting…</source>
        <translation>expulsando…</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Model: {name}, {state}. Choose another one</source>
        <translation>Modelo: {name}, {state}. Elegir otro</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Model: {name}. Choose another one</source>
        <translation>Modelo: {name}. Elegir otro</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>No model found</source>
        <translation>No se encontró ningún modelo</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/quick/quick_prompt.py" line="+220"/>
        <source>1 character from the clipboard|{count} characters from the clipboard</source>
        <translation>
            <numerusform>1 carácter del portapapeles</numerusform>
            <numerusform>{count} caracteres del portapapeles</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/api_switch.py" line="+128"/>
        <source>The API could not be started ({error}).</source>
        <translation>No se pudo iniciar la API ({error}).</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/model_library.py" line="+195"/>
        <source>The models could not be listed</source>
        <translation>No se pudo obtener la lista de modelos</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>{address} is not on this computer: download the model first, then drop its folder.</source>
        <translation>{address} no está en este equipo: primero hay que descargar el modelo y después soltar su carpeta.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Not on this computer</source>
        <translation>No está en este equipo</translation>
    </message>
    <message>
        <location line="+5"/>
        <location filename="../../desktop/sotto/ui/session/session.py" line="+231"/>
        <source>{name} could not be loaded</source>
        <translation>No se pudo cargar {name}</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Load {names} from the list.</source>
        <translation>Hay que cargar {names} desde la lista.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only one model was loaded</source>
        <translation>Solo se cargó un modelo</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Not everything was loaded</source>
        <translation>No se cargó todo</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>The files of {model} are read and compared with their digests.</source>
        <translation>Los archivos de {model} se leen y se comparan con sus sumas de comprobación.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Checking files</source>
        <translation>Comprobando archivos</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>{model} could not be checked</source>
        <translation>No se pudo comprobar {model}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} is damaged</source>
        <translation>{model} está dañado</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No damage found</source>
        <translation>No se encontraron daños</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>All files of {model} match their digests.</source>
        <translation>Todos los archivos de {model} coinciden con sus sumas de comprobación.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/session/session.py" line="-228"/>
        <source>Choose or download a model; your message is kept.</source>
        <translation>Hay que elegir o descargar un modelo; el mensaje se conserva.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No model is loaded</source>
        <translation>No hay ningún modelo cargado</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>the model</source>
        <translation>el modelo</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>It was in {folder}, on a disk that is not connected.</source>
        <translation>Estaba en {folder}, en un disco que no está conectado.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} is not there</source>
        <translation>{model} no está disponible</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{model} cannot run here</source>
        <translation>{model} no se puede ejecutar aquí</translation>
    </message>
    <message>
        <location line="+195"/>
        <source>The engine stopped</source>
        <translation>El motor se detuvo</translation>
    </message>
    <message>
        <location line="+42"/>
        <source>This model has no chat template</source>
        <translation>Este modelo no tiene plantilla de chat</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>The chat template ignores questions</source>
        <translation>La plantilla de chat ignora las preguntas</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{wanted} tokens were requested; the engine loaded {loaded}.</source>
        <translation>Se pidieron {wanted} tokens; el motor cargó {loaded}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The context is shorter than requested</source>
        <translation>El contexto es más corto de lo pedido</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/answers_page.py" line="-42"/>
        <location line="+15"/>
        <source>Scroll with the answer</source>
        <translation>Desplazarse con la respuesta</translation>
    </message>
    <message>
        <location line="-11"/>
        <source>Instructions that models get before your messages</source>
        <translation>Instrucciones que los modelos reciben antes de los mensajes</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Stops when the answer fills the window, or when you scroll.</source>
        <translation>Se detiene cuando la respuesta llena la ventana o al desplazarse a mano.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Defaults for new chats</source>
        <translation>Valores por defecto de los chats nuevos</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Whether the model thinks before it answers and, if it can be set, how much. No effect on models without it.</source>
        <translation>Si el modelo razona antes de responder y, cuando se puede ajustar, cuánto. Sin efecto en los modelos que no razonan.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Advanced</source>
        <translation>Avanzado</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Individual chats can override these.</source>
        <translation>Cada chat puede tener otros valores.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In tokens, up to the maximum of each model. If there is not enough memory, the model is not loaded and you see how many would fit. Applies from the next load.</source>
        <translation>En tokens, hasta el máximo de cada modelo. Si no hay memoria suficiente, el modelo no se carga y se indica cuántos cabrían. Se aplica a partir de la próxima carga.</translation>
    </message>
    <message>
        <location line="+54"/>
        <source>The system prompt can have at most {most} characters; this one has {count} and is not used.</source>
        <translation>El prompt del sistema puede tener como máximo {most} caracteres; este tiene {count} y no se usa.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/api_page.py" line="-121"/>
        <location line="+59"/>
        <source>Port</source>
        <translation>Puerto</translation>
    </message>
    <message>
        <location line="-54"/>
        <source>The port that programs connect to</source>
        <translation>El puerto al que se conectan los programas</translation>
    </message>
    <message>
        <location line="+11"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-8"/>
        <location line="+6"/>
        <location line="+27"/>
        <source>Local server</source>
        <translation>Servidor local</translation>
    </message>
    <message>
        <location line="+11"/>
        <location line="+20"/>
        <source>Let other programs use the models</source>
        <translation>Permitir que otros programas usen los modelos</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+23"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-21"/>
        <source>Address</source>
        <translation>Dirección</translation>
    </message>
    <message>
        <location line="-18"/>
        <location line="+28"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+0"/>
        <source>Key</source>
        <translation>Clave</translation>
    </message>
    <message>
        <location line="-25"/>
        <location line="+31"/>
        <source>Web pages</source>
        <translation>Sitios web</translation>
    </message>
    <message>
        <location line="-30"/>
        <source>None</source>
        <comment>web pages</comment>
        <translation>Ninguno</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Generate a new key</source>
        <translation>Generar una clave nueva</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Copy the key</source>
        <translation>Copiar la clave</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-6"/>
        <source>Copy the address</source>
        <translation>Copiar la dirección</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>{address} accepts only programs on this computer; any other address needs a key.</source>
        <translation>{address} solo acepta programas de este equipo; cualquier otra dirección necesita una clave.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Programs must send it. It can be empty if only this computer can connect.</source>
        <translation>Los programas deben enviarla. Puede quedar vacía si solo este equipo puede conectarse.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Pages that may use the models, such as http://localhost:3000; others are refused.</source>
        <translation>Sitios que pueden usar los modelos, como http://localhost:3000; los demás se rechazan.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Access</source>
        <translation>Acceso</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Compatible with the Ollama, OpenAI and Anthropic APIs. Programs share the model in the window; their requests are not saved in your chats.</source>
        <translation>Compatible con las API de Ollama, OpenAI y Anthropic. Los programas comparten el modelo de la ventana; sus solicitudes no se guardan en los chats.</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>One moment…</source>
        <translation>Un momento…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Off: no program can connect.</source>
        <translation>Desactivado: ningún programa puede conectarse.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Listening at {address}</source>
        <translation>Escuchando en {address}</translation>
    </message>
    <message>
        <location line="+31"/>
        <source>An address is a name or number of this machine, such as {example}, not {typed}.</source>
        <translation>Una dirección es un nombre o número de este equipo, como {example}, no {typed}.</translation>
    </message>
    <message>
        <location line="+27"/>
        <source>The pages can have at most {most} characters in total.</source>
        <translation>Los sitios pueden tener como máximo {most} caracteres en total.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/appearance_page.py" line="+15"/>
        <location line="+24"/>
        <location line="+8"/>
        <source>Text size</source>
        <translation>Tamaño del texto</translation>
    </message>
    <message>
        <location line="-32"/>
        <source>In percent</source>
        <translation>En porcentaje</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+7"/>
        <source>Appearance</source>
        <translation>Apariencia</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+23"/>
        <source>System</source>
        <translation>Sistema</translation>
    </message>
    <message>
        <location line="-23"/>
        <source>Light</source>
        <translation>Claro</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Dark</source>
        <translation>Oscuro</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Smaller text</source>
        <translation>Texto más pequeño</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger text</source>
        <translation>Texto más grande</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Light or dark</source>
        <translation>Claro u oscuro</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>System follows the setting of your desktop.</source>
        <translation>«Sistema» sigue el ajuste del escritorio.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Of the whole window; you can also change it in the View menu.</source>
        <translation>De toda la ventana; también se puede cambiar en el menú Ver.</translation>
    </message>
    <message>
        <location line="+5"/>
        <location line="+3"/>
        <source>Language</source>
        <translation>Idioma</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="+52"/>
        <source>Takes effect after restart.</source>
        <translation>Se aplica al reiniciar Sotto.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Animations follow the system’s reduced-motion setting.</source>
        <translation>Las animaciones siguen el ajuste de movimiento reducido del sistema.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/data_page.py" line="-15"/>
        <source>Your data</source>
        <translation>Datos</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Delete all chats</source>
        <translation>Eliminar todos los chats</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete all?</source>
        <translation>¿Eliminar todos?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete the prompt cache</source>
        <translation>Eliminar la caché de prompts</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete?</source>
        <translation>¿Eliminar?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Reset</source>
        <translation>Restablecer</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all settings</source>
        <translation>Restablecer todos los ajustes</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Reset all?</source>
        <translation>¿Restablecer?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete all data</source>
        <translation>Eliminar todos los datos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Delete everything?</source>
        <translation>¿Eliminarlo todo?</translation>
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
        <translation>Todo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>On this computer</source>
        <translation>En este equipo</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/settings/settings_window.py" line="+85"/>
        <source>Settings</source>
        <translation>Ajustes</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Preferences, presets and the engine’s settings.</source>
        <translation>Preferencias, preajustes y los ajustes del motor.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Deleted data cannot be restored. Models are not deleted.</source>
        <translation>Los datos eliminados no se pueden recuperar. Los modelos no se eliminan.</translation>
    </message>
    <message numerus="yes">
        <location line="+14"/>
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="+40"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="-198"/>
        <source>1 chat|{count} chats</source>
        <translation>
            <numerusform>1 chat</numerusform>
            <numerusform>{count} chats</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>None</source>
        <comment>chats</comment>
        <translation>Ninguno</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Empty</source>
        <comment>prompt cache</comment>
        <translation>Vacía</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Chats, prompt cache and settings: frees {size}.</source>
        <translation>Chats, caché de prompts y ajustes: libera {size}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_choices.py" line="+88"/>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="+128"/>
        <source>Not everything in {folder} could be removed; another Sotto may be using it: close that first.</source>
        <translation>No se pudo eliminar todo lo que hay en {folder}; puede que lo esté usando otra instancia de Sotto: primero hay que cerrarla.</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>The limit must be from {least} to the {total} that this machine has, not {size}.</source>
        <translation>El límite debe estar entre {least} y los {total} que tiene este equipo, no {size}.</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>A speed is a number followed by K, M or G, for example 5 MB, not {typed}.</source>
        <translation>Una velocidad es un número seguido de K, M o G, por ejemplo 5 MB, no {typed}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>The speed must be from {least} to {most} a second, not {speed}.</source>
        <translation>La velocidad debe estar entre {least} y {most} por segundo, no {speed}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/engine_page.py" line="-37"/>
        <source>In the app’s process, which is fastest. If the engine crashes, so does the app; your chats are saved.</source>
        <translation>En el proceso de la app, que es lo más rápido. Si el motor falla, la app se cierra; los chats están guardados.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>In its own process: if it crashes, an answer ends but the app keeps running. It needs a little more memory, and ejecting a model frees all of it.</source>
        <translation>En su propio proceso: si falla, se corta la respuesta en curso, pero la app sigue funcionando. Necesita un poco más de memoria, y al expulsar un modelo se libera toda la suya.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>If it needs more, it is ended and the answer says so; the next question starts it again.</source>
        <translation>Si necesita más, se cierra y la respuesta lo indica; la siguiente pregunta vuelve a iniciarlo.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{variable} is set to {value} in the environment, which overrides this.</source>
        <translation>En el entorno, {variable} tiene el valor {value}, que prevalece sobre este ajuste.</translation>
    </message>
    <message>
        <location line="+6"/>
        <location line="+7"/>
        <source>Engine</source>
        <translation>Motor</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>In the app</source>
        <translation>En la app</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Isolated</source>
        <translation>Aislado</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Where models run</source>
        <translation>Dónde se ejecutan los modelos</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+4"/>
        <source>Memory limit of the isolated engine</source>
        <translation>Límite de memoria del motor aislado</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>No limit</source>
        <translation>Sin límite</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/folders_page.py" line="-26"/>
        <source>Model folders</source>
        <translation>Carpetas de modelos</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Add Folder…</source>
        <translation>Añadir carpeta…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Add folder</source>
        <translation>Añadir carpeta</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Your folders</source>
        <translation>Carpetas añadidas</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Searched automatically</source>
        <translation>Examinadas automáticamente</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Other programs’ models are read in place and never changed, moved or deleted.</source>
        <translation>Los modelos de otros programas se leen donde están y nunca se modifican, mueven ni eliminan.</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+3"/>
        <source>Download speed</source>
        <translation>Velocidad de descarga</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>Unlimited</source>
        <translation>Sin límite</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>For all downloads together, per second. Applies immediately.</source>
        <translation>De todas las descargas juntas, por segundo. Se aplica de inmediato.</translation>
    </message>
    <message>
        <location line="+23"/>
        <source>Folders that you add are searched, including their subfolders.</source>
        <translation>Las carpetas que se añaden se examinan, incluidas sus subcarpetas.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>None yet</source>
        <translation>Aún no hay ninguna</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not found</source>
        <translation>No encontrada</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Remove folder {name}</source>
        <translation>Quitar la carpeta {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Stop searching this folder</source>
        <translation>Dejar de examinar esta carpeta</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Add a folder with models</source>
        <translation>Añadir una carpeta con modelos</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>No models</source>
        <translation>Sin modelos</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/memory_page.py" line="-51"/>
        <location line="+44"/>
        <source>Unload when idle</source>
        <translation>Expulsar por inactividad</translation>
    </message>
    <message>
        <location line="-44"/>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-10"/>
        <source>In minutes</source>
        <translation>En minutos</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Full</source>
        <translation>Completa</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>8 bits</source>
        <translation>8 bits</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits</source>
        <translation>4 bits</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>16 bits</source>
        <translation>16 bits</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Memory and cache</source>
        <translation>Memoria y caché</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+4"/>
        <source>Memory limit</source>
        <translation>Límite de memoria</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Cache in memory</source>
        <translation>Caché en memoria</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cache on disk</source>
        <translation>Caché en disco</translation>
    </message>
    <message>
        <location line="+1"/>
        <location line="+48"/>
        <source>Context precision</source>
        <translation>Precisión del contexto</translation>
    </message>
    <message>
        <location line="-47"/>
        <source>Models and their contexts use no more than this.</source>
        <translation>Los modelos y sus contextos no usan más que esto.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>In memory</source>
        <translation>En memoria</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>How much of earlier prompts stays in memory, so that none is computed twice.</source>
        <translation>Cuánto de los prompts anteriores permanece en memoria, para no calcular ninguno dos veces.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>On disk</source>
        <translation>En disco</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What no longer fits into memory moves there and survives restarts; 0 turns it off.</source>
        <translation>Lo que ya no cabe en memoria pasa al disco y se conserva al reiniciar; 0 lo desactiva.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Delete the cache on disk</source>
        <translation>Eliminar la caché en disco</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>On disk now</source>
        <translation>Ahora en disco</translation>
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
        <translation>Expulsar tras estos minutos sin uso (0&#xa0;=&#xa0;nunca).</translation>
    </message>
    <message>
        <location line="+4"/>
        <location line="+7"/>
        <source>Predict ahead</source>
        <translation>Predecir por adelantado</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Models that have a prediction head write faster with it, and take a little more memory.</source>
        <translation>Los modelos con un cabezal de predicción escriben más rápido con él y ocupan algo más de memoria.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Fewer bits allow longer contexts, with slightly less accuracy.</source>
        <translation>Menos bits permiten contextos más largos, con algo menos de exactitud.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Other changes apply when a model is loaded the next time.</source>
        <translation>Los demás cambios se aplican la próxima vez que se carga un modelo.</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>All free memory</source>
        <translation>Toda la libre</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Automatic</source>
        <translation>Automático</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Models and their contexts use no more than this. The machine has {size} of memory.</source>
        <translation>Los modelos y sus contextos no usan más que esto. El equipo tiene {size} de memoria.</translation>
    </message>
    <message numerus="yes">
        <location line="+9"/>
        <source>{size} in 1 entry, in {folder}|{size} in {count} entries, in {folder}</source>
        <translation>
            <numerusform>{size} en 1 entrada, en {folder}</numerusform>
            <numerusform>{size} en {count} entradas, en {folder}</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Nothing</source>
        <translation>Nada</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/model_folders.py" line="+130"/>
        <source>{folder} is not a folder that can be read; choose the folder that contains your models.</source>
        <translation>{folder} no es una carpeta que se pueda leer: hay que elegir la carpeta que contiene los modelos.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{folder} is already searched.</source>
        <translation>{folder} ya se examina.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/quick_page.py" line="-30"/>
        <location line="+32"/>
        <source>New chat after</source>
        <translation>Nuevo chat tras</translation>
    </message>
    <message>
        <location line="-3"/>
        <source>Shortcut</source>
        <translation>Atajo</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Start fresh if unused for this many minutes.</source>
        <translation>Empezar de cero tras estos minutos sin uso.</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Launch at login</source>
        <translation>Abrir al iniciar sesión</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Without a window, so that the quick prompt opens at once.</source>
        <translation>Sin ventana, para que la consulta rápida se abra al instante.</translation>
    </message>
    <message>
        <location line="+2"/>
        <location line="+3"/>
        <source>Keep in Dock</source>
        <translation>Mantener en el Dock</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Otherwise, Sotto is only in the menu bar while its window is closed.</source>
        <translation>Si no, Sotto solo está en la barra de menús mientras su ventana está cerrada.</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>The command sotto --toggle does the same; you can bind it to a shortcut in your desktop’s settings.</source>
        <translation>El comando sotto --toggle hace lo mismo; se puede asignar a un atajo en los ajustes del escritorio.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Startup</source>
        <translation>Inicio</translation>
    </message>
    <message>
        <location line="+37"/>
        <source>{keys} shows and hides it anywhere.</source>
        <translation>{keys} la muestra y la oculta en cualquier lugar.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Click to record</source>
        <translation>Hacer clic para grabar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/user_data.py" line="-22"/>
        <source>The engine’s settings could not be reset: {reason}.</source>
        <translation>No se pudieron restablecer los ajustes del motor: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/memory_estimate.py" line="+84"/>
        <source>Fits</source>
        <translation>Cabe</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Tight</source>
        <translation>Justo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Does not fit</source>
        <translation>No cabe</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Unknown</source>
        <translation>No se sabe</translation>
    </message>
    <message>
        <location line="+79"/>
        <source>It has not been checked yet.</source>
        <translation>Aún no se ha comprobado.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its size is unknown.</source>
        <translation>Se desconoce su tamaño.</translation>
    </message>
    <message>
        <location line="+25"/>
        <source>The amount of memory is unknown.</source>
        <translation>Se desconoce la cantidad de memoria.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/state/model_state.py" line="-41"/>
        <source>This model makes embeddings and cannot chat: use it with sotto embed, or through the API.</source>
        <translation>Este modelo genera embeddings y no puede chatear: se usa con sotto embed o a través de la API.</translation>
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
        <translation>ahora mismo</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{minutes} min ago</source>
        <translation>hace {minutes}&#xa0;min</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>1 hour ago|{count} hours ago</source>
        <translation>
            <numerusform>hace 1 hora</numerusform>
            <numerusform>hace {count} horas</numerusform>
        </translation>
    </message>
    <message>
        <location line="+2"/>
        <source>yesterday</source>
        <translation>ayer</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>{count} days ago</source>
        <translation>
            <numerusform>hace {count} día</numerusform>
            <numerusform>hace {count} días</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/timing/debounced_file.py" line="+65"/>
        <source>{file} cannot be written: {reason}.</source>
        <translation>No se puede escribir {file}: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/confirm_button.py" line="+46"/>
        <source>{action}: click again to confirm</source>
        <translation>{action}: hacer clic otra vez para confirmar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/growing_text_edit.py" line="+49"/>
        <source>Message</source>
        <translation>Mensaje</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/notice.py" line="+57"/>
        <location line="+51"/>
        <source>Do it</source>
        <translation>Hacerlo</translation>
    </message>
    <message>
        <location line="-49"/>
        <source>Dismiss</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number.py" line="+55"/>
        <source>set here</source>
        <translation>del chat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from Settings</source>
        <translation>de Ajustes</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>from the model</source>
        <translation>del modelo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>default</source>
        <translation>por defecto</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/number_field.py" line="+55"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+8"/>
        <source>Clear</source>
        <translation>Borrar</translation>
    </message>
    <message>
        <location line="+64"/>
        <source>{title} must be a number from {least} to {most}, not {typed}.</source>
        <translation>{title} debe ser un número de {least} a {most}, no {typed}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title} must be a whole number from {least} to {most}, not {typed}.</source>
        <translation>{title} debe ser un número entero de {least} a {most}, no {typed}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/paged_window.py" line="+44"/>
        <source>{title} pages</source>
        <translation>Páginas de {title}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/pane.py" line="+25"/>
        <source>Show sidebar</source>
        <translation>Mostrar la barra lateral</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/toolkit/section_title.py" line="+34"/>
        <source>{title}, expanded</source>
        <translation>{title}, sección expandida</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Collapse</source>
        <translation>Contraer</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{title}, collapsed</source>
        <translation>{title}, sección contraída</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Expand</source>
        <translation>Expandir</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/answer_message.py" line="-151"/>
        <source>Copy answer</source>
        <translation>Copiar la respuesta</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Answer by {model}</source>
        <translation>Respuesta de {model}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Answer</source>
        <translation>Respuesta</translation>
    </message>
    <message>
        <location line="+9"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+2"/>
        <source>Regenerate</source>
        <translation>Regenerar</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Regenerate and keep this answer</source>
        <translation>Regenerar y conservar esta respuesta</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Try another model</source>
        <translation>Probar otro modelo</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Continue answer</source>
        <translation>Continuar la respuesta</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="+4"/>
        <source>Continue</source>
        <translation>Continuar</translation>
    </message>
    <message>
        <location line="+88"/>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+2"/>
        <source>Answering…</source>
        <translation>Respondiendo…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/attachment_chips.py" line="-251"/>
        <source>Whole Document</source>
        <translation>Documento completo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the Beginning</source>
        <translation>Solo el principio</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Only the End</source>
        <translation>Solo el final</translation>
    </message>
    <message>
        <location line="+63"/>
        <source>Choose what is sent of {name}</source>
        <translation>Elegir qué se envía de {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose what is sent</source>
        <translation>Elegir qué se envía</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Remove {name}</source>
        <translation>Quitar {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Remove</source>
        <translation>Quitar</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Attached: {name}, {details}</source>
        <translation>Adjunto: {name}, {details}</translation>
    </message>
    <message>
        <location line="+118"/>
        <source>Reading…</source>
        <translation>Leyendo…</translation>
    </message>
    <message>
        <location line="+62"/>
        <source>first {percent} %</source>
        <translation>primer {percent}&#xa0;%</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>last {percent} %</source>
        <translation>último {percent}&#xa0;%</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>{percent} % of it</source>
        <translation>un {percent}&#xa0;%</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/collapsible_parts.py" line="+116"/>
        <source>Show thoughts</source>
        <translation>Mostrar razonamiento</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide thoughts</source>
        <translation>Ocultar razonamiento</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Thoughts</source>
        <translation>Razonamiento</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Thinking…</source>
        <translation>Razonando…</translation>
    </message>
    <message>
        <location line="+56"/>
        <source>Show arguments</source>
        <translation>Mostrar argumentos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Hide arguments</source>
        <translation>Ocultar argumentos</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Arguments</source>
        <translation>Argumentos</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choosing a tool…</source>
        <translation>Eligiendo una herramienta…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Newest thoughts</source>
        <translation>Razonamiento más reciente</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/find_bar.py" line="+52"/>
        <source>Find in this chat</source>
        <translation>Buscar en este chat</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Previous match</source>
        <translation>Coincidencia anterior</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous match (Enter)</source>
        <translation>Coincidencia anterior (Intro)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next match</source>
        <translation>Coincidencia siguiente</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Next match (Shift+Enter)</source>
        <translation>Coincidencia siguiente (Mayús+Intro)</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Close find bar</source>
        <translation>Cerrar la barra de búsqueda</translation>
    </message>
    <message>
        <location line="+53"/>
        <source>Nothing found</source>
        <translation>Sin resultados</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{number} of {count}</source>
        <translation>{number} de {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/jump_to_latest.py" line="+20"/>
        <location line="+13"/>
        <source>Jump to latest</source>
        <translation>Ir a lo más reciente</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Jump to latest, answer in progress</source>
        <translation>Ir a lo más reciente, respuesta en curso</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_editor.py" line="-7"/>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-54"/>
        <source>Edit message</source>
        <translation>Editar mensaje</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Edit answer</source>
        <translation>Editar respuesta</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Send</source>
        <translation>Enviar</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Save</source>
        <translation>Guardar</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Previous version is kept</source>
        <translation>Se conserva la versión anterior</translation>
    </message>
    <message>
        <location line="+15"/>
        <source>Wait for the end of the answer</source>
        <translation>Hay que esperar al final de la respuesta</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_menu.py" line="-21"/>
        <source>Delete Answer</source>
        <translation>Eliminar respuesta</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Delete Question</source>
        <translation>Eliminar pregunta</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>Delete Question and Answer|Delete Question and Answers</source>
        <translation>
            <numerusform>Eliminar pregunta y respuesta</numerusform>
            <numerusform>Eliminar pregunta y respuestas</numerusform>
        </translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Copy Selection</source>
        <translation>Copiar selección</translation>
    </message>
    <message>
        <location line="+2"/>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="+131"/>
        <source>Copy Link</source>
        <translation>Copiar enlace</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Try Another Model…</source>
        <translation>Probar otro modelo…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Get an Answer</source>
        <translation>Obtener una respuesta</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Edit…</source>
        <translation>Editar…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Branch From Here</source>
        <translation>Crear rama desde aquí</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Markdown</source>
        <translation>Mostrar Markdown</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/message_widget.py" line="+2"/>
        <source>More actions</source>
        <translation>Más acciones</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/notices.py" line="+86"/>
        <source>In another chat.</source>
        <translation>En otro chat.</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="+11"/>
        <source>Open chat</source>
        <translation>Abrir chat</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/transcript.py" line="+62"/>
        <source>Conversation</source>
        <translation>Conversación</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/user_message.py" line="-18"/>
        <source>Copy message</source>
        <translation>Copiar mensaje</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your message</source>
        <translation>Mensaje propio</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Show more</source>
        <translation>Mostrar más</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Show more of this message</source>
        <translation>Mostrar más de este mensaje</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Get an answer</source>
        <translation>Obtener una respuesta</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/version_switch.py" line="+24"/>
        <source>Previous version</source>
        <translation>Versión anterior</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Next version</source>
        <translation>Versión siguiente</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Version {number} of {count}</source>
        <translation>Versión {number} de {count}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-136"/>
        <source>Not printed</source>
        <translation>No se imprimió</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/conversation/pictures/chat_images.py" line="+117"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="+99"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="+156"/>
        <source>{file} could not be written: {reason}.</source>
        <translation>No se pudo escribir {file}: {reason}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_exporting.py" line="-133"/>
        <location line="+93"/>
        <source>Nothing was exported</source>
        <translation>No se exportó nada</translation>
    </message>
    <message>
        <location line="-98"/>
        <source>Chats as {form}</source>
        <translation>Chats en {form}</translation>
    </message>
    <message>
        <location line="+18"/>
        <source>There are no chats yet.</source>
        <translation>Todavía no hay chats.</translation>
    </message>
    <message>
        <location line="+144"/>
        <source>The chat is no longer there, so it was not exported.</source>
        <translation>El chat ya no está, así que no se exportó.</translation>
    </message>
    <message>
        <location line="+13"/>
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="-5"/>
        <source>You</source>
        <translation>Usuario</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/chat_importing.py" line="-40"/>
        <location line="+30"/>
        <source>Nothing was imported</source>
        <translation>No se importó nada</translation>
    </message>
    <message>
        <location line="+60"/>
        <source>The chats could not be added.</source>
        <translation>No se pudieron añadir los chats.</translation>
    </message>
    <message numerus="yes">
        <location line="-11"/>
        <source>{added} of 1 chat added|{added} of {count} chats added</source>
        <translation>
            <numerusform>{added} de 1 chat añadido</numerusform>
            <numerusform>{added} de {count} chats añadidos</numerusform>
        </translation>
    </message>
    <message>
        <location line="-51"/>
        <source>Not everything was imported</source>
        <translation>No se importó todo</translation>
    </message>
    <message numerus="yes">
        <location line="+54"/>
        <source>1 chat read|{count} chats read</source>
        <translation>
            <numerusform>1 chat leído</numerusform>
            <numerusform>{count} chats leídos</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Opening the files</source>
        <translation>Abriendo los archivos</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/chat_page.py" line="+33"/>
        <source>1 character|{count} characters</source>
        <translation>
            <numerusform>1 carácter</numerusform>
            <numerusform>{count} caracteres</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Attached: {file}</source>
        <translation>Adjunto: {file}</translation>
    </message>
    <message numerus="yes">
        <location filename="../../desktop/sotto/ui/transfer/import_summary.py" line="-18"/>
        <source>Imported 1 chat.|Imported {count} chats.</source>
        <translation>
            <numerusform>Se importó 1 chat.</numerusform>
            <numerusform>Se importaron {count} chats.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+13"/>
        <source>1 chat got new messages.|{count} chats got new messages.</source>
        <translation>
            <numerusform>1 chat recibió mensajes nuevos.</numerusform>
            <numerusform>{count} chats recibieron mensajes nuevos.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="-9"/>
        <source>1 chat was already here.|{count} chats were already here.</source>
        <translation>
            <numerusform>1 chat ya estaba aquí.</numerusform>
            <numerusform>{count} chats ya estaban aquí.</numerusform>
        </translation>
    </message>
    <message>
        <location line="+3"/>
        <source>{things} could not be read.</source>
        <translation>No se pudo leer: {things}.</translation>
    </message>
    <message numerus="yes">
        <location line="+12"/>
        <source>1 message|{count} messages</source>
        <translation>
            <numerusform>1 mensaje</numerusform>
            <numerusform>{count} mensajes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 image|{count} images</source>
        <translation>
            <numerusform>1 imagen</numerusform>
            <numerusform>{count} imágenes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 recording|{count} recordings</source>
        <translation>
            <numerusform>1 grabación</numerusform>
            <numerusform>{count} grabaciones</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 file|{count} files</source>
        <translation>
            <numerusform>1 archivo</numerusform>
            <numerusform>{count} archivos</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 tool call|{count} tool calls</source>
        <translation>
            <numerusform>1 llamada a herramienta</numerusform>
            <numerusform>{count} llamadas a herramientas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 unknown part|{count} unknown parts</source>
        <translation>
            <numerusform>1 parte desconocida</numerusform>
            <numerusform>{count} partes desconocidas</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/paper.py" line="+120"/>
        <source>The printer could not be used: choose another one, or print to a file.</source>
        <translation>No se pudo usar la impresora: se puede elegir otra o imprimir en un archivo.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/about.py" line="+27"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+12"/>
        <source>About Sotto</source>
        <translation>Acerca de Sotto</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+20"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-3"/>
        <source>Licences</source>
        <translation>Licencias</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>OK</source>
        <translation>Aceptar</translation>
    </message>
    <message>
        <location line="+16"/>
        <source>Version {version}</source>
        <translation>Versión {version}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Runs language models on your computer</source>
        <translation>Ejecuta modelos de lenguaje en este equipo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>MIT licence</source>
        <translation>Licencia MIT</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_files.py" line="-192"/>
        <source>Importing chats</source>
        <translation>Importando chats</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Import complete</source>
        <translation>Importación completada</translation>
    </message>
    <message>
        <location line="+59"/>
        <source>Exported chats</source>
        <translation>Chats exportados</translation>
    </message>
    <message>
        <location line="+0"/>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+0"/>
        <source>All files</source>
        <translation>Todos los archivos</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import chats</source>
        <translation>Importar chats</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Import a folder of chats</source>
        <translation>Importar una carpeta de chats</translation>
    </message>
    <message>
        <location line="+20"/>
        <source>Nothing to export</source>
        <translation>Nada que exportar</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+33"/>
        <source>This chat has no messages yet.</source>
        <translation>Este chat aún no tiene mensajes.</translation>
    </message>
    <message>
        <location line="-25"/>
        <source>Export as {form}</source>
        <translation>Exportar como {form}</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Export all chats</source>
        <translation>Exportar todos los chats</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Choose where to put the folder of chats</source>
        <translation>Ubicación de la carpeta de chats</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Nothing to print</source>
        <translation>Nada que imprimir</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Exporting</source>
        <translation>Exportando</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Long chats take a moment.</source>
        <translation>Los chats largos tardan un momento.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>{written} of {count} chats written</source>
        <translation>{written} de {count} chats escritos</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Exported</source>
        <translation>Exportado</translation>
    </message>
    <message>
        <location line="-1"/>
        <source>Written to {path}.</source>
        <translation>Guardado en {path}.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show folder</source>
        <translation>Mostrar carpeta</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Export cancelled</source>
        <translation>Exportación cancelada</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was written.</source>
        <translation>No se escribió nada.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Printed</source>
        <translation>Impreso</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Import cancelled</source>
        <translation>Importación cancelada</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Nothing was imported.</source>
        <translation>No se importó nada.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_header.py" line="-25"/>
        <source>Switch model</source>
        <translation>Cambiar de modelo</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>New chat</source>
        <translation>Nuevo chat</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Start a new chat</source>
        <translation>Empezar un chat nuevo</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>Switch to {model}</source>
        <translation>Cambiar a {model}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{model} answered last in this chat</source>
        <translation>{model} dio la última respuesta de este chat</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Choose another model</source>
        <translation>Elegir otro modelo</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Model: {name}</source>
        <translation>Modelo: {name}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list.py" line="-284"/>
        <source>Archive</source>
        <translation>Archivados</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Trash</source>
        <translation>Papelera</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Your chats appear here.</source>
        <translation>Los chats aparecen aquí.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>No archived chats.</source>
        <translation>No hay chats archivados.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The trash is empty. Chats in it are deleted after 30 days.</source>
        <translation>La papelera está vacía. Sus chats se eliminan a los 30 días.</translation>
    </message>
    <message>
        <location line="+167"/>
        <source>Choose which chats are listed, or make a folder</source>
        <translation>Elegir qué chats se muestran o crear una carpeta</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Chats, archive, trash, folders</source>
        <translation>Chats, archivados, papelera, carpetas</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Empty…</source>
        <translation>Vaciar…</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Empty the trash</source>
        <translation>Vaciar la papelera</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Back to chats</source>
        <translation>Volver a los chats</translation>
    </message>
    <message>
        <location line="+81"/>
        <source>Restore</source>
        <translation>Restaurar</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Delete for Good…</source>
        <translation>Eliminar definitivamente…</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Unpin</source>
        <translation>Desfijar</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pin</source>
        <translation>Fijar</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Unarchive</source>
        <translation>Desarchivar</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Archive</source>
        <comment>move to the archive</comment>
        <translation>Archivar</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Export</source>
        <translation>Exportar</translation>
    </message>
    <message>
        <location line="+3"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-54"/>
        <source>Print…</source>
        <translation>Imprimir…</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Trash</source>
        <translation>Mover a la papelera</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-44"/>
        <source>Open</source>
        <translation>Abrir</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Delete Folder but Keep Chats</source>
        <translation>Eliminar carpeta y conservar chats</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Move to Folder</source>
        <translation>Mover a carpeta</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No Folder</source>
        <translation>Sin carpeta</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>New Folder…</source>
        <translation>Nueva carpeta…</translation>
    </message>
    <message>
        <location line="+51"/>
        <source>New Folder</source>
        <translation>Nueva carpeta</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/chat_list_model.py" line="+27"/>
        <source>Folder {name}, {chats}, closed</source>
        <translation>Carpeta {name}, {chats}, cerrada</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Folder {name}, {chats}, open</source>
        <translation>Carpeta {name}, {chats}, abierta</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>pinned</source>
        <translation>fijado</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>in a folder</source>
        <translation>en una carpeta</translation>
    </message>
    <message>
        <location line="+49"/>
        <source>Pinned</source>
        <translation>Fijados</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Today</source>
        <translation>Hoy</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Yesterday</source>
        <translation>Ayer</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Previous 7 days</source>
        <translation>Últimos 7 días</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>{month} {year}</source>
        <translation>{month} de {year}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="+50"/>
        <source>Shortcuts</source>
        <translation>Atajos</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>Help</source>
        <translation>Ayuda</translation>
    </message>
    <message>
        <location line="+55"/>
        <source>Send the message</source>
        <translation>Enviar el mensaje</translation>
    </message>
    <message>
        <location line="+0"/>
        <location line="+3"/>
        <source>Enter</source>
        <translation>Intro</translation>
    </message>
    <message>
        <location line="-2"/>
        <source>New line in a message</source>
        <translation>Línea nueva en un mensaje</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Shift+Enter</source>
        <translation>Mayúsculas+Intro</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Enter, Shift+Enter</source>
        <translation>Intro, Mayúsculas+Intro</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Previous and next match while searching in a chat</source>
        <translation>Coincidencia anterior y siguiente al buscar en un chat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Load the selected model</source>
        <translation>Cargar el modelo seleccionado</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rename the selected chat</source>
        <translation>Renombrar el chat seleccionado</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Action</source>
        <translation>Acción</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Keys</source>
        <translation>Teclas</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>{part} (in {library})</source>
        <translation>{part} (en {library})</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>see its package</source>
        <translation>ver su paquete</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Qt and PySide6 are used under the LGPL, version 3. They are libraries of their own, whose files can be replaced by changed ones. Their source is at {address}.</source>
        <translation>Qt y PySide6 se usan bajo la LGPL, versión 3. Son bibliotecas independientes cuyos archivos pueden reemplazarse por otros modificados. Su código fuente está en {address}.</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Sotto is under the MIT licence. It uses:</source>
        <translation>Sotto se distribuye con la licencia MIT. Utiliza:</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Package</source>
        <translation>Paquete</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_words.py" line="-5"/>
        <location line="+8"/>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+0"/>
        <source>Licence</source>
        <translation>Licencia</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/help_window.py" line="+8"/>
        <source>All licences</source>
        <translation>Todas las licencias</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/main_window.py" line="-1"/>
        <source>Open this link in your browser?</source>
        <translation>¿Abrir este enlace en el navegador?</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Writing a summary</source>
        <translation>Escribiendo un resumen</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>A new chat will start with it.</source>
        <translation>Con él empezará un chat nuevo.</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Moved to the trash</source>
        <translation>Movido a la papelera</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Delete “{title}” for good?</source>
        <translation>¿Eliminar «{title}» definitivamente?</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This cannot be undone.</source>
        <translation>Esta acción no se puede deshacer.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Its chats are deleted for good.</source>
        <translation>Sus chats se eliminan definitivamente.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty</source>
        <comment>empty the trash</comment>
        <translation>Vaciar</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Empty the trash?</source>
        <translation>¿Vaciar la papelera?</translation>
    </message>
    <message>
        <location line="+12"/>
        <source>Folder deleted</source>
        <translation>Carpeta eliminada</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The chats in “{folder}” are still in the list.</source>
        <translation>Los chats de «{folder}» siguen en la lista.</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>About your chats</source>
        <translation>Sobre los chats</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Not saved</source>
        <translation>No se guardó</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/menus.py" line="-73"/>
        <source>&amp;File</source>
        <translation>&amp;Archivo</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>New Chat Folder</source>
        <translation>Nueva carpeta de chats</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model…</source>
        <translation>Abrir modelo…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Open Model Folder…</source>
        <translation>Abrir carpeta de modelo…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add Model Folder…</source>
        <translation>Añadir carpeta de modelos…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model…</source>
        <translation>Obtener un modelo…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Get a Model by Name…</source>
        <translation>Obtener un modelo por nombre…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Manage Models…</source>
        <translation>Gestionar modelos…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Rescan Models</source>
        <translation>Volver a buscar modelos</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Attach Files…</source>
        <translation>Adjuntar archivos…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Import Chats…</source>
        <translation>Importar chats…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Import Chat Folder…</source>
        <translation>Importar carpeta de chats…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Export Chat</source>
        <translation>Exportar chat</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Export All Chats</source>
        <translation>Exportar todos los chats</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Export All as {form}…</source>
        <translation>Exportar todo como {form}…</translation>
    </message>
    <message>
        <location line="+6"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+3"/>
        <source>Settings…</source>
        <translation>Ajustes…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Close Window</source>
        <translation>Cerrar ventana</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>&amp;Edit</source>
        <translation>&amp;Editar</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Redo</source>
        <translation>Rehacer</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Cut</source>
        <translation>Cortar</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Paste</source>
        <translation>Pegar</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Select All</source>
        <translation>Seleccionar todo</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Find in Chat</source>
        <translation>Buscar en el chat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Search Chats and Models</source>
        <translation>Buscar chats y modelos</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Go to Models</source>
        <translation>Ir a los modelos</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>&amp;View</source>
        <translation>&amp;Ver</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Larger Text</source>
        <translation>Texto más grande</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Smaller Text</source>
        <translation>Texto más pequeño</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Normal Text</source>
        <translation>Texto normal</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Sidebar</source>
        <translation>Barra lateral</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Command Palette</source>
        <translation>Paleta de comandos</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Chat Settings</source>
        <translation>Ajustes del chat</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Local Server</source>
        <translation>Servidor local</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>&amp;Help</source>
        <translation>Ay&amp;uda</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto Help</source>
        <translation>Ayuda de Sotto</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Copy Report</source>
        <translation>Copiar informe</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Show Logs</source>
        <translation>Mostrar archivos de registro</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Check for Updates…</source>
        <translation>Buscar actualizaciones…</translation>
    </message>
    <message>
        <location line="+32"/>
        <source>Export as {form}…</source>
        <translation>Exportar como {form}…</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/message_commands.py" line="+110"/>
        <source>Question deleted</source>
        <translation>Pregunta eliminada</translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Question and answer deleted|Question and {count} answers deleted</source>
        <translation>
            <numerusform>Pregunta y respuesta eliminadas</numerusform>
            <numerusform>Pregunta y {count} respuestas eliminadas</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <location line="+2"/>
        <source>Answer deleted|{count} answers deleted</source>
        <translation>
            <numerusform>Respuesta eliminada</numerusform>
            <numerusform>{count} respuestas eliminadas</numerusform>
        </translation>
    </message>
    <message>
        <location line="+1"/>
        <source>The messages that follow are kept.</source>
        <translation>Los mensajes siguientes se conservan.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/request_list.py" line="-1"/>
        <source>Working</source>
        <translation>En curso</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Reading</source>
        <translation>Leyendo</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Writing</source>
        <translation>Escribiendo</translation>
    </message>
    <message>
        <location line="+92"/>
        <source>Cancelled</source>
        <translation>Cancelada</translation>
    </message>
    <message numerus="yes">
        <location line="+20"/>
        <source>{read} → 1 token|{read} → {written} tokens</source>
        <translation>
            <numerusform>{read} → 1 token</numerusform>
            <numerusform>{read} → {written} tokens</numerusform>
        </translation>
    </message>
    <message>
        <location line="+67"/>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="+30"/>
        <source>Requests</source>
        <translation>Solicitudes</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_card.py" line="-38"/>
        <location line="+117"/>
        <source>Show the key</source>
        <translation>Mostrar la clave</translation>
    </message>
    <message>
        <location line="-112"/>
        <source>Clear the requests</source>
        <translation>Borrar las solicitudes</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>No requests yet</source>
        <translation>Aún no hay solicitudes</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Settings of the local server</source>
        <translation>Ajustes del servidor local</translation>
    </message>
    <message>
        <location line="+85"/>
        <source>Other programs can use your models while it is on.</source>
        <translation>Otros programas pueden usar los modelos si está activado.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Starting…</source>
        <translation>Iniciando…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>Hidden</source>
        <translation>Oculta</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Hide the key</source>
        <translation>Ocultar la clave</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/server_status.py" line="+41"/>
        <source>Server off</source>
        <translation>Servidor apagado</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server could not start</source>
        <translation>Servidor no iniciado</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server on :{port}</source>
        <translation>Servidor en :{port}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Server starting…</source>
        <translation>Iniciando servidor…</translation>
    </message>
    <message numerus="yes">
        <location line="+1"/>
        <source>1 request|{count} requests</source>
        <translation>
            <numerusform>1 solicitud</numerusform>
            <numerusform>{count} solicitudes</numerusform>
        </translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/sidebar.py" line="+55"/>
        <source>Search chats and models</source>
        <translation>Buscar chats y modelos</translation>
    </message>
    <message>
        <location line="+17"/>
        <source>Hide sidebar</source>
        <translation>Ocultar la barra lateral</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/welcome.py" line="+22"/>
        <source>Explain how a rainbow forms, in three sentences.</source>
        <translation>Explica en tres frases cómo se forma un arcoíris.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Suggest a name for a small sailing boat.</source>
        <translation>Sugiere un nombre para un velero pequeño.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>What makes bread rise?</source>
        <translation>¿Qué hace que suba el pan?</translation>
    </message>
    <message>
        <location line="+83"/>
        <source>Welcome to Sotto</source>
        <translation>Esto es Sotto</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Choose a model in the list to chat with it. Nothing you write leaves your computer.</source>
        <translation>Para chatear, basta con elegir un modelo de la lista. Nada de lo que se escribe sale de este equipo.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Ask about Sotto</source>
        <translation>Preguntar sobre Sotto</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Ask {model}</source>
        <translation>Preguntar a {model}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The model is loading. You can start writing.</source>
        <translation>El modelo se está cargando. Ya se puede empezar a escribir.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>I’m the small model that comes with Sotto.</source>
        <translation>Soy el pequeño modelo incluido en Sotto.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It runs on your computer.</source>
        <translation>Se ejecuta en este equipo.</translation>
    </message>
    <message>
        <location line="+9"/>
        <source>Ask: {question}</source>
        <translation>Preguntar: {question}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/dialogs.py" line="+1"/>
        <source>Open model</source>
        <translation>Abrir modelo</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Open model folder</source>
        <translation>Abrir carpeta de modelo</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/file_names.py" line="+22"/>
        <source>chat</source>
        <translation>chat</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/uncaught.py" line="-1"/>
        <source>That was when you last used it. Your chats are saved.</source>
        <translation>Ocurrió la última vez que lo usó. Sus chats están guardados.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>This error keeps it from running. Your chats are saved.</source>
        <translation>Este error lo impide. Sus chats están guardados.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto cannot start</source>
        <translation>Sotto no puede iniciarse</translation>
    </message>
    <message>
        <location line="+39"/>
        <source>An error occurred in Sotto. Your chats are saved, and you can go on.</source>
        <translation>Se ha producido un error en Sotto. Sus chats están guardados y puede continuar.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Something went wrong</source>
        <translation>Algo ha fallado</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/window/bug_report.py" line="+41"/>
        <source>Writing a report</source>
        <translation>Escribiendo un informe</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It has no messages, keys or names of chats.</source>
        <translation>No contiene mensajes, claves ni nombres de chats.</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Report copied</source>
        <translation>Informe copiado</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Paste it into your bug report.</source>
        <translation>Péguelo en su informe de error.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/login_portal.py" line="+24"/>
        <source>The desktop did not change whether Sotto starts at login.</source>
        <translation>El escritorio no ha cambiado si Sotto se abre al iniciar sesión.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The quick prompt is there at once.</source>
        <translation>La consulta rápida está disponible al instante.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/address_opener.py" line="+50"/>
        <source>Address not opened</source>
        <translation>Dirección no abierta</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>Add this text to your draft?</source>
        <translation>¿Añadir este texto a su borrador?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Add</source>
        <comment>to the draft</comment>
        <translation>Añadir</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>There is no chat with the number {number}.</source>
        <translation>No hay ningún chat con el número {number}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/own_addresses.py" line="+71"/>
        <source>The address is longer than {count} characters, so it is not opened.</source>
        <translation>La dirección tiene más de {count} caracteres, así que no se abre.</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Sotto opens sotto://model/NAME, sotto://chat/NUMBER and sotto://ask?text=TEXT, not {address}.</source>
        <translation>Sotto abre sotto://model/NOMBRE, sotto://chat/NÚMERO y sotto://ask?text=TEXTO, no {address}.</translation>
    </message>
    <message>
        <location line="+19"/>
        <source>The address is not opened, because it is not encoded as UTF-8 text.</source>
        <translation>La dirección no se abre porque no está codificada como texto UTF-8.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>The address is not opened, because it holds characters that cannot be seen.</source>
        <translation>La dirección no se abre porque contiene caracteres invisibles.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/app/update_notices.py" line="-9"/>
        <source>Sotto {version} is available</source>
        <translation>Sotto {version} está disponible</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>What is new</source>
        <translation>Novedades</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Look for new versions once a day?</source>
        <translation>¿Buscar versiones nuevas una vez al día?</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Sotto then reads a list from one address; nothing about you is sent, and nothing is installed.</source>
        <translation>Sotto lee entonces una lista de una sola dirección; no se envía nada sobre usted ni se instala nada.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/settings/updates_page.py" line="+26"/>
        <source>Updates</source>
        <translation>Actualizaciones</translation>
    </message>
    <message>
        <location line="+7"/>
        <location line="+11"/>
        <source>Look for new versions</source>
        <translation>Buscar versiones nuevas</translation>
    </message>
    <message>
        <location line="-9"/>
        <source>Check now</source>
        <translation>Buscar ahora</translation>
    </message>
    <message>
        <location line="+6"/>
        <source>Once a day, Sotto reads a signed list from {address}, which learns your network address and nothing else; it downloads and installs nothing.</source>
        <translation>Una vez al día, Sotto lee una lista firmada de {address}, que conoce así su dirección de red y nada más; no descarga ni instala nada.</translation>
    </message>
    <message>
        <location line="+33"/>
        <source>Open download page</source>
        <translation>Abrir la página de descarga</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>How to get it</source>
        <translation>Cómo obtenerla</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>This build cannot look for new versions, because it has no key to check them with.</source>
        <translation>Esta compilación no puede buscar versiones nuevas porque no tiene una clave para comprobarlas.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Looking…</source>
        <translation>Buscando…</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Version {version} is available.</source>
        <translation>La versión {version} está disponible.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>This is the newest version.</source>
        <translation>Esta es la versión más reciente.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Not looked for yet.</source>
        <translation>Todavía no se ha buscado.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Last looked for {ago}.</source>
        <translation>Última búsqueda: {ago}.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/updating/release_advice.py" line="+9"/>
        <source>Sotto belongs to your system’s packages: install the new one with the software centre, or with “sudo apt install ./sotto_{version}_….deb”.</source>
        <translation>Sotto pertenece a los paquetes de su sistema: instale el nuevo con el centro de software o con «sudo apt install ./sotto_{version}_….deb».</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Update Sotto in the software centre, or with “flatpak update {program}”.</source>
        <translation>Actualice Sotto en el centro de software o con «flatpak update {program}».</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a checkout of its sources: “git pull” brings the new version.</source>
        <translation>Este Sotto es una copia de su código fuente: «git pull» trae la versión nueva.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>This Sotto is a Python package: install the new wheel in the same environment.</source>
        <translation>Este Sotto es un paquete de Python: instale el wheel nuevo en el mismo entorno.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Download the new AppImage, and put it in the place of this one.</source>
        <translation>Descargue la AppImage nueva y póngala en el lugar de esta.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and put its folder in the place of this one.</source>
        <translation>Descargue la versión nueva, cierre Sotto y ponga su carpeta en el lugar de esta.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Download the new version, quit Sotto, and drag it over this one.</source>
        <translation>Descargue la versión nueva, cierre Sotto y arrástrela sobre esta.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/customizing/customizing.py" line="+74"/>
        <source>{name} cannot be customized</source>
        <translation>{name} no se puede personalizar</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Customize {name}</source>
        <translation>Personalizar {name}</translation>
    </message>
    <message>
        <location line="+35"/>
        <source>There is one of this name; it will be replaced.</source>
        <translation>Ya hay uno con este nombre; se reemplazará.</translation>
    </message>
    <message>
        <location line="+14"/>
        <source>Hello! Who are you?</source>
        <translation>¡Hola! ¿Quién eres?</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>I am here to help.</source>
        <translation>Estoy aquí para ayudar.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>What is the capital of France?</source>
        <translation>¿Cuál es la capital de Francia?</translation>
    </message>
    <message>
        <location line="+13"/>
        <source>Creating…</source>
        <translation>Creando…</translation>
    </message>
    <message>
        <location line="+22"/>
        <source>{name} was created</source>
        <translation>Se ha creado {name}</translation>
    </message>
    <message>
        <location line="+21"/>
        <source>Its weights were copied from {name}.</source>
        <translation>Sus pesos se copiaron de {name}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It shares its weights with {name}.</source>
        <translation>Comparte sus pesos con {name}.</translation>
    </message>
    <message>
        <location line="-8"/>
        <source>Copying… {share}</source>
        <translation>Copiando… {share}</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/keeping/model_keeper.py" line="-110"/>
        <source>Rename {name}</source>
        <translation>Renombrar {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/keeping/name_form.py" line="-4"/>
        <source>Rename</source>
        <translation>Renombrar</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Duplicate {name}</source>
        <translation>Duplicar {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Both share their files, so that the copy takes up no space.</source>
        <translation>Ambos comparten sus archivos, así que la copia no ocupa espacio.</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Duplicate</source>
        <translation>Duplicar</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Keep a copy of {name}</source>
        <translation>Conservar una copia de {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>The copy stays when {program} deletes the model. Where the disk can share files, it takes up no space: either as a clone, or as a link, which is one file with two names.</source>
        <translation>La copia permanece cuando {program} elimina el modelo. Donde el disco puede compartir archivos, no ocupa espacio: como clon, o como enlace, que es un archivo con dos nombres.</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Keep</source>
        <comment>keep a copy of a model</comment>
        <translation>Conservar</translation>
    </message>
    <message>
        <location line="+28"/>
        <source>{name} was duplicated</source>
        <translation>{name} se ha duplicado</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is kept</source>
        <translation>{name} se ha conservado</translation>
    </message>
    <message>
        <location line="+45"/>
        <source>{name} was renamed</source>
        <translation>{name} se ha renombrado</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>{size} shared with {program}</source>
        <translation>{size} compartidos con {program}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>{size} copied</source>
        <translation>{size} copiados</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/finding_controller.py" line="+144"/>
        <source>Looking at its files…</source>
        <translation>Examinando sus archivos…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Its owner must allow the download first.</source>
        <translation>Su propietario debe permitir antes la descarga.</translation>
    </message>
    <message>
        <location line="+65"/>
        <source>What you type here is sent to {host}.</source>
        <translation>Lo que escribas aquí se envía a {host}.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Searching…</source>
        <translation>Buscando…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Nothing was found there.</source>
        <translation>No se ha encontrado nada.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/gallery/offer_list.py" line="-134"/>
        <source>Models to download</source>
        <translation>Modelos para descargar</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_controller.py" line="-35"/>
        <source>Folder…</source>
        <translation>Carpeta…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>GGUF file…</source>
        <translation>Archivo GGUF…</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>GGUF files</source>
        <translation>Archivos GGUF</translation>
    </message>
    <message>
        <location line="+1"/>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-48"/>
        <location line="+45"/>
        <location filename="../../desktop/sotto/ui/models/models_page.py" line="-216"/>
        <source>Import a model</source>
        <translation>Importar un modelo</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>{name} is being imported already; choose another name.</source>
        <translation>{name} ya se está importando; elige otro nombre.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_job.py" line="-62"/>
        <source>Preparing the import</source>
        <translation>Preparando la importación</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Importing</source>
        <translation>Importando</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Measuring the quality</source>
        <translation>Midiendo la calidad</translation>
    </message>
    <message>
        <location line="+58"/>
        <source>{name} could not be imported</source>
        <translation>No se pudo importar {name}</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>It takes {size}.</source>
        <translation>Ocupa {size}.</translation>
    </message>
    <message>
        <location line="+8"/>
        <source>Perplexity {before} → {after}, KL divergence {divergence}, the same token in {share} %.</source>
        <translation>Perplejidad {before} → {after}, divergencia KL {divergence}, el mismo token en el {share} %.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_list.py" line="-1"/>
        <source>Cancel the import of {name}</source>
        <translation>Cancelar la importación de {name}</translation>
    </message>
    <message>
        <location line="+3"/>
        <source>Imported</source>
        <translation>Importado</translation>
    </message>
    <message>
        <location line="+30"/>
        <source>Resume the import of {name}</source>
        <translation>Reanudar la importación de {name}</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>Pause the import of {name}</source>
        <translation>Pausar la importación de {name}</translation>
    </message>
    <message>
        <location line="+26"/>
        <source>Imports</source>
        <translation>Importaciones</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/import_sheet.py" line="-40"/>
        <source>Import {name}</source>
        <translation>Importar {name}</translation>
    </message>
    <message>
        <location line="+10"/>
        <location line="+34"/>
        <source>Quantization</source>
        <translation>Cuantización</translation>
    </message>
    <message>
        <location line="-31"/>
        <location line="+32"/>
        <source>Measure the quality</source>
        <translation>Medir la calidad</translation>
    </message>
    <message>
        <location line="-30"/>
        <location line="+75"/>
        <source>Reading the model…</source>
        <translation>Leyendo el modelo…</translation>
    </message>
    <message>
        <location line="-72"/>
        <source>Use where it is</source>
        <translation>Usar donde está</translation>
    </message>
    <message>
        <location line="+4"/>
        <source>Import</source>
        <translation>Importar</translation>
    </message>
    <message>
        <location line="+10"/>
        <source>8 bits ({name})</source>
        <translation>8 bits ({name})</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>4 bits ({name})</source>
        <translation>4 bits ({name})</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Keep as it is</source>
        <translation>Dejar como está</translation>
    </message>
    <message>
        <location line="+7"/>
        <source>Against the original, when it is imported</source>
        <translation>Frente al original, tras importarlo</translation>
    </message>
    <message>
        <location line="+72"/>
        <source>It will take {size} on the disk.</source>
        <translation>Ocupará {size} en el disco.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Its weights need {size} of memory, and {free} are free.</source>
        <translation>Sus pesos necesitan {size} de memoria y hay {free} libres.</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>It fits.</source>
        <translation>Cabe.</translation>
    </message>
    <message>
        <location line="+0"/>
        <source>It does not fit now; fewer bits may help.</source>
        <translation>Ahora no cabe; menos bits pueden ayudar.</translation>
    </message>
    <message>
        <location line="+57"/>
        <source>There is a model {name} already; choose another name.</source>
        <translation>Ya existe un modelo {name}; elige otro nombre.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/models/model_imports/running_imports.py" line="+90"/>
        <source>Earlier imports could not be read</source>
        <translation>No se pudieron leer las importaciones anteriores</translation>
    </message>
    <message>
        <location line="+142"/>
        <source>The process that measures ended unexpectedly.</source>
        <translation>El proceso que mide terminó de forma inesperada.</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/attachment_control.py" line="+72"/>
        <source>Pasted image</source>
        <translation>Imagen pegada</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/composer/composer_controller.py" line="+70"/>
        <source>No screenshot</source>
        <translation>Sin captura de pantalla</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/platform/screenshots.py" line="+107"/>
        <source>The desktop did not take one: take it with another program, and paste it here.</source>
        <translation>El escritorio no la ha hecho: hágala con otro programa y péguela aquí.</translation>
    </message>
    <message>
        <location line="+5"/>
        <source>Screenshot</source>
        <translation>Captura de pantalla</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_button.py" line="+49"/>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-92"/>
        <source>Image {name}</source>
        <translation>Imagen {name}</translation>
    </message>
    <message>
        <location line="+2"/>
        <source>Shows it whole</source>
        <translation>La muestra entera</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transcript/picture_viewer.py" line="-8"/>
        <source>Zoom out</source>
        <translation>Alejar</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom in</source>
        <translation>Acercar</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Zoom to fit</source>
        <translation>Ajustar a la ventana</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Copy image</source>
        <translation>Copiar imagen</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Save image as…</source>
        <translation>Guardar imagen como…</translation>
    </message>
    <message>
        <location line="+1"/>
        <source>Opening…</source>
        <translation>Abriendo…</translation>
    </message>
    <message>
        <location line="+99"/>
        <source>Save image as</source>
        <translation>Guardar imagen como</translation>
    </message>
    <message>
        <location line="+11"/>
        <source>Saved</source>
        <translation>Guardado</translation>
    </message>
    <message>
        <location filename="../../desktop/sotto/ui/transfer/exported_images.py" line="+26"/>
        <source>{name} images</source>
        <translation>{name} imágenes</translation>
    </message>
</context>
</TS>
